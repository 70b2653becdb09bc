import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import { doubling, retry, within } from "../../src/util/async.ts";
import { logFault, nameRun } from "../log.ts";
import { patiently } from "../network/durable-objects.ts";
import type { RunWebhooks } from "../webhooks/run-webhooks.ts";
import type { RunRows } from "./run-rows.ts";
import { KV_TTL, LISTING_MS, MIRROR_MS, mirrorKey } from "./schedule.ts";

/** The copies of one run's record: in the index of its project, from which lists are read, and in KV. */
export interface RunMirror {
  /** Adds a new record to the index; false when that fails or takes more than a few seconds. */
  list(project: string, record: Task | Step): Promise<boolean>;
  /** Updates the index now; if that fails or takes long, {@link RunMirror.write} does it later. Never rejects. */
  index(project: string, record: Task | Step, version: number): Promise<void>;
  /** Updates the copies that are out of date. */
  write(): Promise<void>;
  /** Removes the copies of a withdrawn run. */
  withdraw(project: string, id: string): Promise<void>;
  /** Removes the copies, after handing over the remaining events. */
  remove(project: string, record: Task | Step, version: number): Promise<void>;
}

const LIST_TRIES = 6;
const LIST_PAUSE_MS = 50;

/** Creates {@link RunMirror} for the run in these rows. */
export function createRunMirror(env: Bindings, rows: RunRows, webhooks: RunWebhooks): RunMirror {
  let indexing: Promise<void> = Promise.resolve();
  let indexed = 0;
  let status: string | null = null;

  async function handOver(project: string, record: Task | Step, version: number): Promise<void> {
    // The events of a task stay here while its job may still be withdrawn.
    const isUnannounced = rows.get()?.turn === "creating" && !isFinished(record);
    const set = isUnannounced ? { ...webhooks.changes(record.id), changes: [] } : webhooks.changes(record.id);
    const deliveries = await env.PROJECT.getByName(project).put(record, version, set);
    if (!rows.get()) return;
    if (!isUnannounced) webhooks.handedOver(version, project, deliveries);
    indexed = Math.max(indexed, version);
  }

  // KV accepts one write a second per key and is read only for finished runs, so progress is not written.
  async function writeKv(project: string, record: Task | Step): Promise<void> {
    await env.KV.put(mirrorKey(record), JSON.stringify({ project, record }), { expirationTtl: KV_TTL });
    status = record.status;
  }

  async function removeAll(project: string, record: Task | Step): Promise<void> {
    await patiently(() => env.PROJECT.getByName(project).remove(record.id));
    // KV refuses the deletion if it accepted a write within the last second, so it is retried.
    await patiently(() => env.KV.delete(mirrorKey(record)));
  }

  async function withdraw(project: string, id: string): Promise<void> {
    await env.PROJECT.getByName(project).withdraw(id);
    await env.KV.delete(mirrorKey({ id, object: "task" }));
  }

  return {
    async list(project, record) {
      const stop = new AbortController();
      const options = { tries: LIST_TRIES, pauseMs: doubling(LIST_PAUSE_MS), signal: stop.signal };
      const listing = retry(() => handOver(project, record, 1), options).then(
        () => true,
        (thrown: unknown) => {
          logFault("listing failed", thrown, nameRun(record.id));
          return false;
        },
      );
      return within(listing, LISTING_MS, () => {
        stop.abort();
        // A late answer means that the project lists a withdrawn record.
        void listing
          .then((late) => (late && !rows.get() ? withdraw(project, record.id) : undefined))
          .catch((thrown: unknown) => logFault("not withdrawn", thrown, nameRun(record.id)));
        return false;
      });
    },
    async index(project, record, version) {
      indexing = handOver(project, record, version).catch((thrown: unknown) => {
        logFault("index failed", thrown, nameRun(record.id));
      });
      await within(indexing, LISTING_MS, () => {});
    },
    async write() {
      const row = rows.get();
      const now = Date.now();
      if (!row || row.mirrored >= row.version || now < row.mirrored_at + MIRROR_MS) return;
      const { project, record, version } = row;
      const isChanged = row.mirrored === 0 || statusSince(record) >= row.mirrored_at;
      const outcomes = await Promise.allSettled([
        indexed < version && handOver(project, record, version),
        isChanged && record.status !== status && writeKv(project, record),
      ]);
      if (!rows.get()) return removeAll(project, record);
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
      webhooks.forget();
      rows.update({ mirrored: version, mirrored_at: now });
    },
    withdraw,
    async remove(project, record, version) {
      // A pending update would list the record again.
      await indexing;
      if (webhooks.changes(record.id).changes.length > 0) await handOver(project, record, version);
      await removeAll(project, record);
    },
  };
}

function statusSince({ created_at, started_at, finished_at }: Task | Step): number {
  return finished_at ?? started_at ?? created_at;
}
