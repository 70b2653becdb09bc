import { decodeTime, encodeTime } from "ulid";
import { ID_PREFIX } from "../../src/core/ids.ts";
import type { ArchivedRecord, RunKind } from "./run-index.ts";

/** The records of a project that are too old for its lists, in R2: files of JSON lines, each named by the last id in it. */
export interface Archive {
  /** Writes records, sorted by their ids. */
  write(object: RunKind, records: readonly ArchivedRecord[]): Promise<void>;
  /** Returns a record as JSON; null for one that is not there. */
  get(object: RunKind, id: string): Promise<string | null>;
  /** Removes a record; false for one that is not there. */
  remove(object: RunKind, id: string): Promise<boolean>;
}

// Files whose last id comes after the one looked for: the first holds it, unless a record was archived later than its neighbours.
const FILES = 10;

/** Creates the archive of a project. */
export function createArchive(bucket: R2Bucket, project: string): Archive {
  const folder = (object: RunKind) => `archive/${encodeURIComponent(project)}/${object}/`;

  async function find(object: RunKind, id: string) {
    const prefix = folder(object);
    const { objects } = await bucket.list({ prefix, startAfter: prefix + id, limit: FILES });
    for (const { key } of objects) {
      const lines = (await (await bucket.get(key))?.text())?.split("\n") ?? [];
      const json = lines.find((line) => line.startsWith(`{"id":"${id}"`));
      if (json !== undefined) return { key, json, others: lines.filter((line) => line !== json) };
    }
    return null;
  }

  const put = (key: string, lines: readonly string[]) =>
    bucket.put(key, lines.join("\n"), { httpMetadata: { contentType: "application/jsonl" } });

  return {
    async write(object, records) {
      const last = records.at(-1);
      if (last) {
        const lines = records.map(({ json }) => json);
        await put(`${folder(object)}${last.id}.jsonl`, lines);
      }
    },
    get: async (object, id) => (await find(object, id))?.json ?? null,
    async remove(object, id) {
      const found = await find(object, id);
      if (!found) return false;
      await (found.others.length > 0 ? put(found.key, found.others) : bucket.delete(found.key));
      return true;
    },
  };
}

/** Returns the lowest id that a record made at a time may have. */
export function idAt(object: RunKind, time: number): string {
  return ID_PREFIX[object] + encodeTime(Math.max(0, time), 10).toLowerCase();
}

/** Returns when the record with a valid id was made, in milliseconds since the epoch. */
export function timeOfId(object: RunKind, id: string): number {
  return decodeTime(id.slice(ID_PREFIX[object].length).toUpperCase());
}
