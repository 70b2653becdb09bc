import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import { isHeld, type RunRow } from "./run-row.ts";

/** Milliseconds between two mirrors of a record: KV takes one write a second on a key. */
export const MIRROR_MS = 1000;
/** Seconds for which KV keeps a record after its last change. */
export const KV_TTL = 90 * 86_400;
/**
 * Attempts at a piece of work, for faults of the machinery only; between them 2 and 4 seconds, in which an encoder that crashed
 * is back.
 */
export const ATTEMPTS = 3;
/** Milliseconds for which a change waits for its project's index. */
export const LISTING_MS = 4000;
/**
 * Milliseconds before each clearing of the files that an unsuccessful run leaves behind. A run that has ended is notified at once
 * and stops; its files are cleared a second later. On a busy machine it takes longer to cancel its work elsewhere, so the run is
 * ended only later. Work that ignores the cancellation may write for a while even then, so its files are cleared again each time.
 */
export const CLEANUPS_MS = [1000, 10_000, 60_000] as const;

const ALARM_RETRY_MS = { first: 2000, most: 60_000 } as const;

/** Returns the milliseconds to wait after an alarm that has failed so many times in a row. */
export function pauseAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(ALARM_RETRY_MS.first * 2 ** (failures - 1), ALARM_RETRY_MS.most);
}

/** The count of clearings of a run whose output was kept as long as it should be and is gone. */
export const EXPIRED = CLEANUPS_MS.length + 1;

/** Milliseconds after which a run that waits for light or heavy work asks again whether it is its turn, in case the notification was lost. */
export const ASK_MS = 600_000;

// A run leaves the queue when it ends; this is for one that could not.
const LEAVE_MS = 1000;

/** The key of a record's mirror in KV. */
export function mirrorKey(record: Pick<Task | Step, "id" | "object">): string {
  return `${record.object}:${record.id}`;
}

/**
 * Returns when a run's output and its URL expire, in Unix seconds: counted from the creation, so that a repeated
 * step returns the same URL.
 */
export function outputExpires({ created_at }: { created_at: number }, ttl_seconds: number): number {
  return Math.floor(created_at / 1000) + ttl_seconds;
}

/**
 * Returns when files of a run are next due for removal; null when none are left. The output of a successful run is kept until
 * `expires`; times are in milliseconds since the epoch.
 */
export function cleanupDue({ record, cleanups, cleanup_at }: RunRow, expires: number): number | null {
  if (!isFinished(record)) return null;
  if (cleanups < CLEANUPS_MS.length) return cleanup_at;
  return record.status === "succeeded" && cleanups < EXPIRED ? expires : null;
}

/**
 * Returns when a run next needs attention, in milliseconds since the epoch and not before `now`; null when it never does. `watch`
 * is in milliseconds too.
 */
export function nextAlarm(row: RunRow, watch: number, expires: number, now: number): number | null {
  const due: number[] = [];
  const finished = isFinished(row.record);
  if (!row.started && !finished && !isHeld(row)) due.push(row.turn === "waits" ? row.heard_at + ASK_MS : now);
  if (finished && row.turn !== "over") due.push(now + LEAVE_MS);
  if (row.mirrored < row.version) due.push(row.mirrored_at + MIRROR_MS);
  if (row.started && !finished) due.push(now + (row.turn === "heavy_waits" ? ASK_MS : watch));
  const cleanup = cleanupDue(row, expires);
  if (cleanup !== null) due.push(cleanup);
  return due.length > 0 ? Math.max(now, Math.min(...due)) : null;
}
