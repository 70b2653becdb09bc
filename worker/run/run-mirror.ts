import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";
import { logFault, nameRun } from "../observability/log.ts";
import type { RunMail } from "../webhooks/run-mail.ts";
import { mirrorKey } from "./mirror-key.ts";
import type { RunRows } from "./run-rows.ts";
import { KV_TTL, MIRROR_MS } from "./schedule.ts";

/** The copies of one run's record: in the index of its project, which lists are read from, and in KV. */
export interface RunMirror {
  /** Brings the index up to date at once; where that fails, {@link RunMirror.write} does it later. Never rejects. */
  index(project: string, record: Task | Step, version: number): Promise<void>;
  /** Writes what the copies lack. */
  write(): Promise<void>;
  /** Removes the copies, once events that are still to be delivered have been handed over. */
  remove(project: string, record: Task | Step, version: number): Promise<void>;
}

/** Creates {@link RunMirror} of the run in these rows. */
export function createRunMirror(env: Bindings, rows: RunRows, mail: RunMail): RunMirror {
  let indexing: Promise<void> = Promise.resolve();
  let indexed = 0;
  let status: string | null = null;

  async function handOver(project: string, record: Task | Step, version: number): Promise<void> {
    const set = mail.changes(record.id);
    const shipments = await env.PROJECT.getByName(project).put(record, version, set);
    mail.handedOver(version, project, shipments);
    indexed = Math.max(indexed, version);
  }

  async function removeAll(project: string, record: Task | Step): Promise<void> {
    await env.PROJECT.getByName(project).remove(record.id);
    await env.KV.delete(mirrorKey(record));
  }

  return {
    async index(project, record, version) {
      indexing = handOver(project, record, version).catch((thrown: unknown) => {
        logFault("index failed", thrown, nameRun(record.id));
      });
      await indexing;
    },
    async write() {
      const row = rows.get();
      const now = Date.now();
      if (!row || row.mirrored >= row.version || now < row.mirrored_at + MIRROR_MS) return;
      const { project, record, version } = row;
      if (indexed < version) await handOver(project, record, version);
      // KV is read only where the object is gone, and takes one write a second: progress is not worth one.
      if (record.status !== status) {
        await env.KV.put(mirrorKey(record), JSON.stringify({ project, record }), { expirationTtl: KV_TTL });
        status = record.status;
      }
      // It was deleted meanwhile, and so is what was just written.
      if (!rows.get()) return removeAll(project, record);
      mail.forget();
      rows.update({ mirrored: version, mirrored_at: now });
    },
    async remove(project, record, version) {
      // Its last state may be on its way into the lists.
      await indexing;
      if (mail.changes(record.id).changes.length > 0) await handOver(project, record, version);
      await removeAll(project, record);
    },
  };
}
