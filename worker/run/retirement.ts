import type { R2Bucket } from "@cloudflare/workers-types";
import { logFault } from "../observability/log.ts";
import type { PostOffice } from "../webhooks/post-office.ts";
import { createArchive, idAt, timeOfId } from "./archive.ts";
import { RUN_KINDS, type RunIndex, type RunKind } from "./run-index.ts";

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
