import { isFinished } from "../src/core/transitions.ts";
import type { RunRow } from "./run-row.ts";

/** Times of the watch over a run, in milliseconds. */
export interface WatchTimes {
  /** Silence after which the run is looked after. */
  watch: number;
  /** Time without progress after which it fails. */
  stall: number;
}

/** What the watch finds: all well, a silent run to wake, or a run to give up. */
export type Finding = "well" | "silent" | "stalled" | "lost";

/** Judges a run by when it was last heard and last moved. Time in which nobody could hear it does not count as a stall. */
export function judgeRun(row: RunRow, times: WatchTimes, now: number): Finding {
  if (isFinished(row.record) || !row.started) return "well";
  if (now - row.heard_at >= times.watch) return row.wakes * times.watch >= times.stall ? "lost" : "silent";
  return now - row.progressed_at >= times.stall ? "stalled" : "well";
}
