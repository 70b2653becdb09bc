import { createIds } from "../../../src/runs/ids.ts";
import { createTask } from "../../../src/runs/task.ts";
import { isFinished } from "../../../src/runs/transitions.ts";
import type { RunRow } from "../../../worker/run/schedule.ts";

/** A task that was just created. */
export const QUEUED = createTask(
  { input: "https://example.com/a.mp4", kind: "video", options: {}, metadata: {} },
  createIds(() => 0.5),
  0,
);

/** The row of a run that has started and is mirrored, with changes. */
export function rowWith(change: Partial<RunRow>): RunRow {
  return {
    project: "p",
    key_id: "key_1",
    base: "https://example.com",
    record: QUEUED,
    choice: null,
    version: 1,
    mirrored: 1,
    mirrored_at: 0,
    heard_at: 0,
    progressed_at: 0,
    wakes: 0,
    started: 1,
    cleanups: 0,
    cleanup_at: 0,
    turn: isFinished(change.record ?? QUEUED) ? "over" : "goes_on",
    ...change,
  };
}
