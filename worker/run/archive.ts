import type { R2Bucket, R2Conditional } from "@cloudflare/workers-types";
import { decodeTime, encodeTime } from "ulid";
import { ID_PREFIX } from "../../src/runs/ids.ts";
import type { JobHead } from "../../src/runs/job.ts";
import type { JobState } from "../jobs/job-state.ts";
import { logFault } from "../observability/log.ts";
import type { PostOffice } from "../webhooks/webhook-queue.ts";
import { type ArchivedRecord, RUN_KINDS, type RunIndex, type RunKind } from "./run-index.ts";

/** The types of records in an archive. */
export type ArchiveKind = RunKind | "job";

/** The records of a project that are too old for its lists, in R2: files of JSON lines, each named by the last id in it. */
interface Archive {
  /** Writes records, sorted by their ids. Those up to the id `behind`, whose neighbors are in files already, get files of their own. */
  write(object: ArchiveKind, records: readonly ArchivedRecord[], behind: string): Promise<void>;
  /** Returns a record as JSON; null for one that is not there. */
  get(object: ArchiveKind, id: string): Promise<string | null>;
  /** Returns the task of a step as JSON; null for one that is not there. */
  taskOf(step_id: string): Promise<string | null>;
  /** Removes a record from every file; false for one that is not there. */
  remove(object: ArchiveKind, id: string): Promise<boolean>;
}

// Files whose last id comes after the one looked for: the first holds it, unless a batch broke off and was written again.
const FILES = 10;
// The ids of a task and its steps are made together.
const MADE_MS = 1000;

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

  // The file may exist already: a record that cannot be freed yet is archived again, as is the rest of an interrupted batch.
  async function add(object: ArchiveKind, records: readonly ArchivedRecord[]): Promise<void> {
    const last = records.at(-1);
    if (!last) return;
    const key = `${folder(object)}${last.id}.jsonl`;
    for (let added = false; !added; ) {
      const file = await bucket.get(key);
      const lines = file ? (await file.text()).split("\n") : [];
      const others = records.map(({ json }) => json).filter((json) => !lines.includes(json));
      if (others.length === 0) return;
      added = (await put(key, [...lines, ...others], file ? { etagMatches: file.etag } : undefined)) !== null;
    }
  }

  return {
    async write(object, records, behind) {
      const late = records.filter(({ id }) => id <= behind);
      for (const record of late) await add(object, [record]);
      await add(object, records.slice(late.length));
    },
    get: async (object, id) => (await findRecord(object, id))?.json ?? null,
    async taskOf(step_id) {
      const from = idAt("task", timeOfId("step", step_id) - MADE_MS);
      return (await find("task", from, new RegExp(`"id":"${step_id}"`)))?.json ?? null;
    },
    async remove(object, id) {
      let removed = false;
      for (let found = await findRecord(object, id); found; found = await findRecord(object, id)) {
        const { key, etag, others } = found;
        // Where another removal changed the file meanwhile, it is read again.
        await (others.length > 0 ? put(key, others, { etagMatches: etag }) : bucket.delete(key));
        removed = true;
      }
      return removed;
    },
  };
}

/** Returns the lowest id that a record made at a time may have. */
function idAt(object: ArchiveKind, time: number): string {
  return ID_PREFIX[object] + encodeTime(Math.max(0, time), 10).toLowerCase();
}

/** Returns when the record with a valid id was made, in milliseconds since the epoch. */
export function timeOfId(object: ArchiveKind, id: string): number {
  return decodeTime(id.slice(ID_PREFIX[object].length).toUpperCase());
}

/** What {@link createRetirement} works on. */
export interface RetirementParts {
  project: string;
  runs: Pick<RunIndex, "finished" | "drop" | "isGone">;
  office: Pick<PostOffice, "removeOf" | "detach">;
  kv: { get(name: string): unknown; put(name: string, id: string): void };
  bucket: R2Bucket;
  objects: { getByName(id: string): { retire(project: string): Promise<boolean> } };
  /** Whether the project's database is so large that the events of old records go with them. */
  isLarge(): boolean;
}

// Each record costs a request to its own object, of which one call may make a thousand; the text of all is in memory.
const BATCH = { records: 400, bytes: 4_000_000 } as const;

// The last id of each type whose neighbors are in the archive.
const archivedKey = (object: RunKind) => `archived_${object}`;

/** Creates what moves the old records of a project to its archive and frees their objects. */
export function createRetirement({ project, runs, office, kv, bucket, objects, isLarge }: RetirementParts) {
  const archive = createArchive(bucket, project);
  // The last records that the current pass has come to; it begins with the oldest.
  const passed = new Map<RunKind, string>();

  // One that fails, or whose output is still there, stays, and is archived again: it holds up no other.
  async function retireOne(id: string): Promise<void> {
    try {
      if (!(await objects.getByName(id).retire(project))) return;
      if (isLarge()) office.removeOf(id);
      else office.detach(id);
      runs.drop(id);
    } catch (thrown) {
      logFault("not archived", thrown, { project, id });
    }
  }

  async function retireBatch(object: RunKind, before: number): Promise<boolean> {
    const above = passed.get(object) ?? `${object}_`;
    const records = runs.finished(above, idAt(object, before), BATCH);
    const last = records.at(-1)?.id;
    if (last === undefined) {
      passed.delete(object);
      return false;
    }
    const behind = String(kv.get(archivedKey(object)) ?? "");
    await archive.write(object, records, behind);
    for (const { id } of records) {
      await retireOne(id);
      // It was deleted while it was on its way to the archive.
      if (runs.isGone(id)) await archive.remove(object, id);
    }
    if (last > behind) kv.put(archivedKey(object), last);
    passed.set(object, last);
    return true;
  }

  return {
    /** Retires some records made before a time; returns whether there may be more. */
    async retire(before: number): Promise<boolean> {
      for (const object of RUN_KINDS) if (await retireBatch(object, before)) return true;
      return false;
    },

    /** Returns when the oldest finished record is of an age in milliseconds; null when there is none. */
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

/** What is stored of a job: the rest is in its tasks. */
export interface KnownJob {
  head: JobHead;
  /** Ids. */
  tasks: string[];
}

/** The jobs of a project that are too old for its list, each a file in the archive of their tasks. */
export function createJobArchive(archive: Archive) {
  return {
    /** Writes a job, unless it was deleted meanwhile. */
    async write({ head, tasks }: Pick<JobState, "head" | "tasks">, isThere: () => boolean): Promise<void> {
      const known: KnownJob = { head, tasks: tasks.map((task) => task.id) };
      await archive.write("job", [{ id: head.id, json: JSON.stringify({ id: head.id, ...known }) }], "");
      if (!isThere()) await archive.remove("job", head.id);
    },
    async get(id: string): Promise<KnownJob | null> {
      const json = await archive.get("job", id);
      return json === null ? null : JSON.parse(json);
    },
    remove: (id: string) => archive.remove("job", id),
  };
}
