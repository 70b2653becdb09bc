import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";
import type { RunMail } from "../webhooks/run-mail.ts";
import type { RunMirror } from "./run-mirror.ts";
import type { RunRows } from "./run-rows.ts";
import type { Made } from "./runs.ts";
import { MIRROR_MS } from "./schedule.ts";

/** How a run comes into being: stored and listed, or not at all. */
export interface Admission {
  /** Stores a new record and lists it; false where its project does not take it: then it is withdrawn. */
  admit(project: string, record: Task | Step, made: Made): Promise<boolean>;
  /** Resolves when no admission is in progress. */
  idle(): Promise<void>;
  /** Removes what is left of a withdrawn run, in its project too, which may have taken the record though its answer was lost. */
  withdraw(): Promise<void>;
}

/** What an admission works with. */
export interface AdmissionTools {
  storage: Pick<DurableObjectStorage, "transactionSync">;
  rows: RunRows;
  mail: RunMail;
  mirror: RunMirror;
  /** Removes the run from the index of a project. */
  unlist(project: string): Promise<void>;
  /** Sets the alarm. */
  arm(at: number): Promise<void>;
  /** Sets the alarm again. */
  rearm(): Promise<void>;
}

/** Creates the {@link Admission} of one object's run. */
export function createAdmission(tools: AdmissionTools): Admission {
  const { storage, rows, mail, mirror, unlist, arm, rearm } = tools;
  let admitting: Promise<boolean> | null = null;

  async function withdraw(): Promise<void> {
    const project = rows.withdrawn();
    if (project === null) return;
    await unlist(project);
    rows.delete();
  }

  async function admitOnce(project: string, record: Task | Step, made: Made): Promise<boolean> {
    await withdraw();
    const { base, key_id, webhook_url, sealed_key } = made;
    const row = rows.get();
    if (row && row.turn !== "none") return true;
    const now = Date.now();
    if (!row) {
      storage.transactionSync(() => {
        rows.insert({ project, base, record, key_id }, now);
        if (sealed_key !== undefined) rows.setKey(sealed_key);
        if (webhook_url !== undefined) mail.setUrl(webhook_url);
        mail.note(record, null, 1);
      });
      // For the mirror, and should this object die before the run begins.
      await arm(now + MIRROR_MS);
    }
    if (await mirror.list(project, record)) return true;
    storage.transactionSync(() => {
      rows.setTurn("withdrawn");
      mail.discard();
    });
    await rearm();
    return false;
  }

  return {
    async idle() {
      await admitting?.catch(() => {});
    },
    withdraw,
    admit(project, record, made) {
      admitting ??= admitOnce(project, record, made).finally(() => {
        admitting = null;
      });
      return admitting;
    },
  };
}
