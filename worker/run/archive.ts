import type { R2Bucket, R2Conditional } from "@cloudflare/workers-types";
import { decodeTime, encodeTime } from "ulid";
import { ID_PREFIX } from "../../src/runs/ids.ts";
import type { JobHead } from "../../src/runs/job.ts";
import type { JobState } from "../jobs/job-state.ts";
import { logFault } from "../log.ts";
import type { WebhookQueue } from "../webhooks/webhook-queue.ts";
import { type ArchivedRecord, RUN_KINDS, type RunIndex, type RunKind } from "./run-index.ts";

/** The types of records in an archive. */
export type ArchiveKind = RunKind | "job";

/** The records of a project that are too old for its lists: JSON Lines files in R2, each named after its last id. */
interface Archive {
  /** Writes records sorted by id. Each record up to the id `behind` gets its own file, because its neighbors are in files already. */
  write(object: ArchiveKind, records: readonly ArchivedRecord[], behind: string): Promise<void>;
  /** Returns a record as JSON; null when the archive lacks it. */
  get(object: ArchiveKind, id: string): Promise<string | null>;
  /** Returns the task of a step as JSON; null when the archive lacks it. */
  taskOf(step_id: string): Promise<string | null>;
  /** Removes a record from every file; false when the archive lacks it. */
  remove(object: ArchiveKind, id: string): Promise<boolean>;
}

// The first file whose last id follows the record's holds it, unless an interrupted batch was written again.
const FILES = 10;
const ID_SPREAD_MS = 1000;

/** Creates the archive of a project. */
export function createArchive(bucket: R2Bucket, project: string): Archive {
  const folder = (object: ArchiveKind) => `archive/${encodeURIComponent(project)}/${object}/`;

  async function find(object: ArchiveKind, from: string, start: RegExp) {
    const prefix = folder(object);
    const { objects } = await bucket.list({ prefix, startAfter: prefix + from, limit: FILES });
    for (const { key } of objects) {
      const file = await bucket.get(key);
      const lines = (await file?.text())?.split("\n") ?? [];
      const json = lines.find((line) => start.test(line));
      if (file && json !== undefined)
        return { key, etag: file.etag, json, others: lines.filter((line) => line !== json) };
    }
    return null;
  }

  const findRecord = (object: ArchiveKind, id: string) => find(object, id, new RegExp(`^\\{"id":"${id}"`));

  const put = (key: string, lines: readonly string[], onlyIf?: R2Conditional) =>
    bucket.put(key, lines.join("\n"), {
      ...(onlyIf && { onlyIf }),
      httpMetadata: { contentType: "application/jsonl" },
    });

  // The file exists already if a record could not be freed or a batch was interrupted; its records are then archived again.
  async function add(object: ArchiveKind, records: readonly ArchivedRecord[]): Promise<void> {
    const last = records.at(-1);
    if (!last) return;
    const key = `${folder(object)}${last.id}.jsonl`;
    for (let isStored = false; !isStored; ) {
      const file = await bucket.get(key);
      const lines = file ? (await file.text()).split("\n") : [];
      const others = records.map(({ json }) => json).filter((json) => !lines.includes(json));
      if (others.length === 0) return;
      isStored =
        (await put(key, [...lines, ...others], file ? { etagMatches: file.etag } : undefined)) !== null;
    }
  }

  return {
    async write(object, records, behind) {
      const stragglers = records.filter(({ id }) => id <= behind);
      for (const record of stragglers) await add(object, [record]);
      await add(object, records.slice(stragglers.length));
    },
    get: async (object, id) => (await findRecord(object, id))?.json ?? null,
    async taskOf(step_id) {
      const from = idAt("task", timeOfId("step", step_id) - ID_SPREAD_MS);
      return (await find("task", from, new RegExp(`"id":"${step_id}"`)))?.json ?? null;
    },
    async remove(object, id) {
      let isRemoved = false;
      for (let entry = await findRecord(object, id); entry; entry = await findRecord(object, id)) {
        const { key, etag, others } = entry;
        await (others.length > 0 ? put(key, others, { etagMatches: etag }) : bucket.delete(key));
        isRemoved = true;
      }
      return isRemoved;
    },
  };
}

/** Returns the lowest id of a record created at a time. */
function idAt(object: ArchiveKind, time: number): string {
  return ID_PREFIX[object] + encodeTime(Math.max(0, time), 10).toLowerCase();
}

/** Returns when the record with a valid id was created, in milliseconds since the epoch. */
export function timeOfId(object: ArchiveKind, id: string): number {
  return decodeTime(id.slice(ID_PREFIX[object].length).toUpperCase());
}

/** Dependencies of {@link createRetirement}. */
export interface RetirementOptions {
  project: string;
  runs: Pick<RunIndex, "finished" | "drop" | "isGone">;
  webhooks: Pick<WebhookQueue, "removeOf" | "detach">;
  kv: { get(name: string): unknown; put(name: string, id: string): void };
  bucket: R2Bucket;
  objects: { getByName(id: string): { retire(project: string): Promise<boolean> } };
  /** Whether the project's database is so large that events are removed with their records. */
  isLarge(): boolean;
}

// Each record costs a request to its own object, of which one call may make 1,000; all texts are in memory.
const BATCH = { records: 400, bytes: 4_000_000 } as const;

const archivedKey = (object: RunKind) => `archived_${object}`;

/** Moves the old records of a project to its archive and frees their objects. */
export function createRetirement({
  project,
  runs,
  webhooks,
  kv,
  bucket,
  objects,
  isLarge,
}: RetirementOptions) {
  const archive = createArchive(bucket, project);
  const cursors = new Map<RunKind, string>();

  async function retireOne(id: string): Promise<void> {
    try {
      if (!(await objects.getByName(id).retire(project))) return;
      if (isLarge()) webhooks.removeOf(id);
      else webhooks.detach(id);
      runs.drop(id);
    } catch (thrown) {
      logFault("not archived", thrown, { project, id });
    }
  }

  async function retireBatch(object: RunKind, before: number): Promise<boolean> {
    const above = cursors.get(object) ?? `${object}_`;
    const records = runs.finished(above, idAt(object, before), BATCH);
    const last = records.at(-1)?.id;
    if (last === undefined) {
      cursors.delete(object);
      return false;
    }
    const behind = String(kv.get(archivedKey(object)) ?? "");
    await archive.write(object, records, behind);
    for (const { id } of records) {
      await retireOne(id);
      if (runs.isGone(id)) await archive.remove(object, id);
    }
    if (last > behind) kv.put(archivedKey(object), last);
    cursors.set(object, last);
    return true;
  }

  return {
    /** Retires a batch of records created before a time; returns whether there may be more. */
    async retire(before: number): Promise<boolean> {
      for (const object of RUN_KINDS) if (await retireBatch(object, before)) return true;
      return false;
    },

    /** Returns when the oldest finished record reaches an age in milliseconds; null when there is none. */
    oldest(age: number): number | null {
      const times = RUN_KINDS.flatMap((object) =>
        runs
          .finished(`${object}_`, `${object}a`, { records: 1, bytes: 0 })
          .map(({ id }) => timeOfId(object, id) + age),
      );
      return times.length > 0 ? Math.min(...times) : null;
    },
  };
}

/** A job as it is stored; the rest is in its tasks. */
export interface StoredJob {
  head: JobHead;
  /** Ids of its tasks. */
  tasks: string[];
}

/** Stores the jobs of a project that are too old for its list, each as a file in the project's archive. */
export function createJobArchive(archive: Archive) {
  return {
    /** Writes a job, unless it was deleted meanwhile. */
    async write({ head, tasks }: Pick<JobState, "head" | "tasks">, isThere: () => boolean): Promise<void> {
      const job: StoredJob = { head, tasks: tasks.map((task) => task.id) };
      await archive.write("job", [{ id: head.id, json: JSON.stringify({ id: head.id, ...job }) }], "");
      if (!isThere()) await archive.remove("job", head.id);
    },
    async get(id: string): Promise<StoredJob | null> {
      const json = await archive.get("job", id);
      return json === null ? null : JSON.parse(json);
    },
    remove: (id: string) => archive.remove("job", id),
  };
}
