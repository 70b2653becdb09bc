import type { MediaError } from "../../src/media/errors.ts";
import type { EncoderChoice } from "../../src/media/refusal.ts";
import { runErrorOf, type Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { failOpenStep, isFinished, type RunEvent } from "../../src/runs/transitions.ts";
import { logFault, nameRun } from "../log.ts";
import type { ServiceSettings } from "../settings.ts";

/** Milliseconds between two mirrors of a record: KV accepts one write a second per key. */
export const MIRROR_MS = 1000;
/** Seconds for which KV keeps a record after its last change. */
export const KV_TTL = 90 * 86_400;
/** Attempts at a piece of work after infrastructure faults; the pauses of 2 and 4 seconds let a crashed encoder restart. */
export const ATTEMPTS = 3;
/** Milliseconds that a change waits for its project's index. */
export const LISTING_MS = 4000;
/**
 * Milliseconds before each clearing of the files of an unsuccessful run. The run is notified at once and usually stops within the
 * first second. Work that is slow to cancel may go on writing, so the instance is terminated and the files are cleared again.
 */
export const CLEANUPS_MS = [1000, 10_000, 60_000] as const;

const ALARM_RETRY_MS = { first: 2000, max: 60_000 } as const;

function pauseAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(ALARM_RETRY_MS.first * 2 ** (failures - 1), ALARM_RETRY_MS.max);
}

/** The value of `cleanups` once the output has expired and is removed. */
export const EXPIRED = CLEANUPS_MS.length + 1;

/** Milliseconds after which a waiting run asks for its slot again, in case the notification was lost. */
export const ASK_MS = 600_000;

const LEAVE_MS = 1000;

/** The key of a record's mirror in KV. */
export function mirrorKey(record: Pick<Task | Step, "id" | "object">): string {
  return `${record.object}:${record.id}`;
}

/** Returns when a run's output and its URL expire, in Unix seconds. Counts from the creation, so a repeated step returns the same URL. */
export function outputExpires({ created_at }: { created_at: number }, ttl_seconds: number): number {
  return Math.floor(created_at / 1000) + ttl_seconds;
}

/**
 * Returns when files of a run are next due for removal; null when none are left. A successful run keeps its output until `expires`.
 * Times are in milliseconds since the epoch.
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
  if (!row.started && !finished && !isBlocked(row))
    due.push(row.turn === "waits" ? row.heard_at + ASK_MS : now);
  if (finished && row.turn !== "over") due.push(now + LEAVE_MS);
  if (row.mirrored < row.version) due.push(row.mirrored_at + MIRROR_MS);
  if (row.started && !finished) due.push(now + (row.turn === "heavy_waits" ? ASK_MS : watch));
  const cleanup = cleanupDue(row, expires);
  if (cleanup !== null) due.push(cleanup);
  return due.length > 0 ? Math.max(now, Math.min(...due)) : null;
}

/**
 * The queue state of a run, in order: its job is being created; its job blocks it; it has not entered the queue; it waits there; it
 * runs; it waits for a slot for heavy work; it has one; it has left the queues; its creation failed, and it must not run.
 */
export type QueueState =
  | "creating"
  | "held"
  | "none"
  | "waits"
  | "goes_on"
  | "heavy_waits"
  | "heavy"
  | "over"
  | "withdrawn";

/** Whether a run's job blocks it. */
export function isBlocked({ turn }: Pick<RunRow, "turn">): boolean {
  return turn === "creating" || turn === "held";
}

/** The one row of a TaskObject; times are milliseconds since the epoch. */
export interface RunRow {
  project: string;
  /** Id of the API key that created it. */
  key_id: string;
  turn: QueueState;
  /** Base of the run's URLs. */
  base: string;
  record: Task | Step;
  /** The encoder assigned to its encode; null while there is none. */
  choice: EncoderChoice | null;
  /** Counts the changes of the record and its choice; `mirrored` is the newest version in KV and the index. */
  version: number;
  mirrored: number;
  mirrored_at: number;
  /** When the run last reported or asked for a slot, and when it last made progress. */
  heard_at: number;
  progressed_at: number;
  /** Number of wakes since the run's last report; negative while Workflows queues its instance. */
  wakes: number;
  /** 1 once the run's Workflow instance exists, else 0. */
  started: number;
  /** Times that the files of the finished run were cleared, and when they are next due. */
  cleanups: number;
  cleanup_at: number;
}

/** Time limits of the watch over a run, in milliseconds. */
export interface WatchTimes {
  /** Silence after which the run is checked. */
  watch: number;
  /** Time without progress after which it fails. */
  stall: number;
}

/** Returns the watch's time limits from the settings. */
export function watchTimes(settings: Pick<ServiceSettings, "WATCH_SECONDS" | "STALL_SECONDS">): WatchTimes {
  return { watch: settings.WATCH_SECONDS * 1000, stall: settings.STALL_SECONDS * 1000 };
}

/** The verdict of the watch: `silent` runs are woken, `stalled` and `lost` ones fail. */
export type WatchVerdict = "well" | "silent" | "stalled" | "lost";

/** Judges a run by its last report and its last progress. A run that waits for a heavy slot cannot stall. */
export function assessRun(row: RunRow, times: WatchTimes, now: number): WatchVerdict {
  if (isFinished(row.record) || !row.started) return "well";
  const waits = row.turn === "heavy_waits";
  const silence = waits ? ASK_MS : times.watch;
  if (now - row.heard_at >= silence) return row.wakes * times.watch >= times.stall ? "lost" : "silent";
  return !waits && now - row.progressed_at >= times.stall ? "stalled" : "well";
}

/** Maximum number of events for an instance that stays queued. */
export const QUEUED_WAKES = 3;

/** Counts a wake of a run. A queued instance cannot report, so its wakes do not count once it has left the queue. */
export function countWake(wakes: number, isQueued: boolean): number {
  return isQueued ? Math.max(Math.min(wakes, 0) - 1, -QUEUED_WAKES) : Math.max(wakes, 0) + 1;
}

/** Returns the event that fails a run at its open step. */
export function failureOf(record: Task | Step, error: MediaError): RunEvent {
  return failOpenStep(record, runErrorOf(error));
}

interface AlarmStorage {
  setAlarm(at: number): Promise<void>;
}

/**
 * Manages the single alarm of a run's Durable Object. `name` is the run's id, for the log; `arm` sets the alarm to what is due next,
 * at least `pause` milliseconds from now.
 */
export function createRunAlarm(
  storage: AlarmStorage,
  name: string | undefined,
  arm: (pause: number) => Promise<void>,
) {
  // The time is cached, because setting an alarm writes to storage.
  let due: number | null = null;
  let failures = 0;
  return {
    /** Records that the alarm has fired or was deleted with the storage. */
    forget() {
      due = null;
    },

    /** Sets the alarm, unless an earlier one is set. */
    async set(at: number): Promise<void> {
      if (due !== null && due <= at) return;
      due = at;
      await storage.setAlarm(at);
    },

    /**
     * Runs every duty, even after one has failed, and arms the alarm. Never rejects: the platform gives up an alarm that keeps failing
     * for two minutes.
     */
    async run(duties: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
      let failed = false;
      for (const [work, duty] of Object.entries(duties)) {
        try {
          await duty();
        } catch (thrown) {
          failed = true;
          logFault("alarm failed", thrown, { ...nameRun(name), work });
        }
      }
      const failureCount = failures + 1;
      try {
        await arm(failed ? pauseAfter(failureCount) : 0);
        failures = failed ? failureCount : 0;
      } catch (thrown) {
        failures = failureCount;
        logFault("alarm failed", thrown, { ...nameRun(name), work: "arm" });
        due = null;
        await this.set(Date.now() + pauseAfter(failures));
      }
    },
  };
}
