import type { MediaError } from "../../../src/media/errors.ts";
import { runErrorOf, type Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import { failOpenStep, isFinished, type RunEvent } from "../../../src/runs/transitions.ts";
import type { ServiceSettings } from "../../settings/schema.ts";
import type { RunRow } from "../run-row.ts";
import { ASK_MS } from "../schedule.ts";

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
