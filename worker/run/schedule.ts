import type { MediaError } from "../../src/media/errors.ts";
import type { EncoderChoice } from "../../src/media/refusal.ts";
import { runErrorOf, type Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { failOpenStep, isFinished, type RunEvent } from "../../src/runs/transitions.ts";
import { logFault, nameRun } from "../observability/log.ts";
import type { ServiceSettings } from "../settings/schema.ts";

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
function pauseAfter(failures: number): number {
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

/**
 * Where a run stands: its job is still being created; its job holds it back; it has not entered the queue; it waits there; it runs;
 * it waits for a slot for heavy work; it has one; it has left the queues; or its job was never created, and it must not run.
 */
export type Turn =
  | "creating"
  | "held"
  | "none"
  | "waits"
  | "goes_on"
  | "heavy_waits"
  | "heavy"
  | "over"
  | "withdrawn";

/** Whether a run's job holds it back. */
export function isHeld({ turn }: Pick<RunRow, "turn">): boolean {
  return turn === "creating" || turn === "held";
}

/** The one row of a TaskObject; times are milliseconds since the epoch. */
export interface RunRow {
  project: string;
  /** Id of the API key that made it. */
  key_id: string;
  turn: Turn;
  /** Base of the run's URLs. */
  base: string;
  record: Task | Step;
  /** The encoder that its encode was given to; null while there is none. */
  choice: EncoderChoice | null;
  /** Counts the changes of the record and its choice; `mirrored` is the newest one that KV and the index have. */
  version: number;
  mirrored: number;
  mirrored_at: number;
  /** When the run last gave a sign of life, or asked for its turn, and when its work last moved. */
  heard_at: number;
  progressed_at: number;
  /** How often the silent run was woken since its last sign of life. */
  wakes: number;
  /** 1 once the run's Workflow instance stands. */
  started: number;
  /** How often the files of the finished run were cleared, and when that is next due. */
  cleanups: number;
  cleanup_at: number;
}

/** Times of the watch over a run, in milliseconds. */
export interface WatchTimes {
  /** Silence after which the run is looked after. */
  watch: number;
  /** Time without progress after which it fails. */
  stall: number;
}

/** Returns the times of the watch by the settings. */
export function watchTimes(settings: Pick<ServiceSettings, "WATCH_SECONDS" | "STALL_SECONDS">): WatchTimes {
  return { watch: settings.WATCH_SECONDS * 1000, stall: settings.STALL_SECONDS * 1000 };
}

/** What the watch finds: all well, a silent run to wake, or a run to give up. */
export type Finding = "well" | "silent" | "stalled" | "lost";

/** Judges a run by its last sign of life and its last progress. Time in which it could not report does not count as a stall. */
export function judgeRun(row: RunRow, times: WatchTimes, now: number): Finding {
  if (isFinished(row.record) || !row.started) return "well";
  // It sleeps until its turn.
  const waits = row.turn === "heavy_waits";
  const silence = waits ? ASK_MS : times.watch;
  if (now - row.heard_at >= silence) return row.wakes * times.watch >= times.stall ? "lost" : "silent";
  return !waits && now - row.progressed_at >= times.stall ? "stalled" : "well";
}

/** Returns the event by which a run fails at its open step. */
export function failureOf(record: Task | Step, error: MediaError): RunEvent {
  return failOpenStep(record, runErrorOf(error));
}

/** The alarm of a Durable Object, as its storage has it. */
interface AlarmStorage {
  setAlarm(at: number): Promise<void>;
}

/**
 * Manages the one alarm that a run's Durable Object has. `name` is the run's id, for the log; `arm` sets the alarm to what is due
 * next, after some milliseconds at the earliest.
 */
export function createRunAlarm(
  storage: AlarmStorage,
  name: string | undefined,
  arm: (pause: number) => Promise<void>,
) {
  // Remembered, because each setting of an alarm is a write.
  let due: number | null = null;
  let failures = 0;
  return {
    /** Notes that the alarm has gone off, or went with the storage. */
    gone() {
      due = null;
    },

    /** Sets the alarm, unless an earlier one will do so. */
    async set(at: number): Promise<void> {
      if (due !== null && due <= at) return;
      due = at;
      await storage.setAlarm(at);
    },

    /**
     * Runs every duty, even after one has failed, and arms the alarm. The platform gives up an alarm that fails for two minutes, as by
     * a wrong setting; this one is set again.
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
      const again = failures + 1;
      try {
        await arm(failed ? pauseAfter(again) : 0);
        failures = failed ? again : 0;
      } catch (thrown) {
        failures = again;
        logFault("alarm failed", thrown, { ...nameRun(name), work: "arm" });
        due = null;
        await this.set(Date.now() + pauseAfter(failures));
      }
    },
  };
}
