import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import type { RunMail } from "../webhooks/run-mail.ts";
import type { RunMirror } from "./run-mirror.ts";
import { isHeld } from "./run-row.ts";
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
  /** Withdraws a run that is still held back; the alarm does the rest. */
  refuse(): Promise<void>;
  /** Publishes a run whose job stands, which holds it back: its events go out from now on. */
  announce(): Promise<void>;
  /** Lets a run that is held back enter the queue, with the input that it waited for; false when it is not held. */
  release(input: string | null): Promise<boolean>;
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
    const { base, key_id, webhook_url, sealed_key, held } = made;
    const row = rows.get();
    if (row && row.turn !== "none" && !isHeld(row)) return true;
    const now = Date.now();
    if (!row) {
      storage.transactionSync(() => {
        rows.insert({ project, base, record, key_id }, now);
        if (sealed_key !== undefined) rows.setKey(sealed_key);
        if (held) rows.setTurn("creating");
        if (webhook_url !== undefined) mail.setUrl(webhook_url);
        mail.note(record, null, 1);
      });
      // For the mirror, and should this object die before the run begins.
      await arm(now + MIRROR_MS);
    }
    if (await mirror.list(project, record)) return true;
    await refuse();
    return false;
  }

  async function refuse(): Promise<void> {
    storage.transactionSync(() => {
      rows.setTurn("withdrawn");
      mail.discard();
    });
    await rearm();
  }

  return {
    async idle() {
      await admitting?.catch(() => {});
    },
    withdraw,
    async refuse() {
      const row = rows.get();
      if (row && isHeld(row)) await refuse();
    },
    async announce() {
      const row = rows.get();
      if (row?.turn !== "creating") return;
      storage.transactionSync(() => {
        rows.setTurn("held");
        // For the mirror, which takes its events along.
        rows.update({ version: row.version + 1 });
      });
      await rearm();
    },
    async release(input) {
      const row = rows.get();
      if (!row || !isHeld(row) || row.record.object !== "task" || isFinished(row.record)) return false;
      const record = { ...row.record, input: input ?? row.record.input };
      storage.transactionSync(() => {
        rows.update({ record, version: row.version + 1 });
        rows.setTurn("none");
      });
      // Should this object die before the run begins: its job does not let it go again.
      await arm(Date.now() + MIRROR_MS);
      return true;
    },
    admit(project, record, made) {
      admitting ??= admitOnce(project, record, made).finally(() => {
        admitting = null;
      });
      return admitting;
    },
  };
}
