import type { Step } from "../../src/runs/step.ts";
import { destinationOf } from "../../src/runs/steps/upload.ts";
import type { Task } from "../../src/runs/task.ts";
import * as errors from "../errors.ts";
import type { Sql } from "../sql.ts";

/** Bytes that a project moves in a day. */
export interface DayBytes {
  /** Read from hosts that callers name, including retries. */
  fetched: number;
  /** Written to managed storage: outputs, and files that pages upload. */
  stored: number;
}

/** Counts the bytes of one project per day, which begins at midnight UTC. */
export interface Quota {
  /** Counts bytes that are about to be fetched for an output, 0 for a stored file. Counts nothing and returns the exceeded limit if there is one. */
  takeFetched(bytes: number): keyof DayBytes | null;
  /** Counts bytes that are about to be uploaded. Counts nothing and returns the exceeded limit if there is one. */
  takeStored(bytes: number): keyof DayBytes | null;
  /** Counts bytes that are stored already. */
  addStored(bytes: number): void;
}

const DAY_MS = 86_400_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS day_bytes (
    day INTEGER PRIMARY KEY, fetched INTEGER NOT NULL DEFAULT 0, stored INTEGER NOT NULL DEFAULT 0
  );
`;

/** Creates the quota of a project with daily limits. */
export function createQuota(sql: Sql, limits: DayBytes, now: () => number): Quota {
  sql.exec(SCHEMA);
  const today = () => Math.floor(now() / DAY_MS);

  function add(what: keyof DayBytes, bytes: number): void {
    sql.exec("DELETE FROM day_bytes WHERE day < ?", today());
    const insert = `INSERT INTO day_bytes (day, ${what}) VALUES (?, ?)`;
    sql.exec(`${insert} ON CONFLICT DO UPDATE SET ${what} = ${what} + excluded.${what}`, today(), bytes);
  }

  function hasRoom(what: keyof DayBytes, bytes: number): boolean {
    const select = `SELECT ${what} AS bytes FROM day_bytes WHERE day = ?`;
    const [usage = { bytes: 0 }] = sql.exec<{ bytes: number }>(select, today());
    return usage.bytes + bytes <= limits[what];
  }

  return {
    takeFetched(bytes) {
      if (!hasRoom("stored", 1)) return "stored";
      if (!hasRoom("fetched", bytes)) return "fetched";
      if (bytes > 0) add("fetched", bytes);
      return null;
    },
    takeStored(bytes) {
      if (!hasRoom("stored", bytes)) return "stored";
      add("stored", bytes);
      return null;
    },
    addStored(bytes) {
      if (bytes > 0) add("stored", bytes);
    },
  };
}

/** Returns the bytes that a finished task or standalone step left in managed storage. */
export function storedBytes(record: Task | Step): number {
  if (record.status !== "succeeded" || destinationOf(record)) return 0;
  // An upload to managed storage leaves the file where it is.
  if (record.object === "step")
    return record.kind === "probe" || record.kind === "upload" ? 0 : sizeOf(record);
  return Math.max(0, ...record.steps.filter(({ kind }) => kind === record.kind).map(sizeOf));
}

const sizeOf = ({ output }: Step) => output?.filesize ?? 0;

/** Throws `quota_exceeded` when a {@link Quota} returned an exceeded limit. */
export function requireQuota(exceeded: keyof DayBytes | null): void {
  if (exceeded === null) return;
  throw errors.quotaExceeded({ of: exceeded });
}
