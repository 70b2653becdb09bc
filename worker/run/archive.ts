import type { R2Bucket, R2Conditional } from "@cloudflare/workers-types";
import { decodeTime, encodeTime } from "ulid";
import { ID_PREFIX } from "../../src/runs/ids.ts";
import type { ArchivedRecord, RunKind } from "./run-index.ts";

/** The types of records in an archive. */
export type ArchiveKind = RunKind | "job";

/** The records of a project that are too old for its lists, in R2: files of JSON lines, each named by the last id in it. */
export interface Archive {
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
export function idAt(object: ArchiveKind, time: number): string {
  return ID_PREFIX[object] + encodeTime(Math.max(0, time), 10).toLowerCase();
}

/** Returns when the record with a valid id was made, in milliseconds since the epoch. */
export function timeOfId(object: ArchiveKind, id: string): number {
  return decodeTime(id.slice(ID_PREFIX[object].length).toUpperCase());
}
