import { createIds } from "../../src/core/ids.ts";
import type { Source } from "../../src/core/source.ts";
import { createTask, type Task } from "../../src/core/task.ts";
import { applyToTask, type RunEvent } from "../../src/core/transitions.ts";

/** When the task of the tests was created. */
export const NOW = 1_795_170_600_000;

/** What is encoded in the tests: 40 seconds of video. */
export const SOURCE: Source = {
  object: "source",
  url: "https://example.com/a.mp4",
  kind: "video",
  format: "mp4",
  duration: 40,
};

/** A task just created. */
export const QUEUED: Task = createTask(
  { input: SOURCE.url, kind: "video", options: { start: 10, end: 30 }, metadata: {} },
  createIds(() => 0.5),
  NOW,
);

const stepId = (index: number) => QUEUED.steps[index]?.id ?? "";

/** Starts a step of the task, by its place. */
export const start = (index: number, input: Source = SOURCE): RunEvent => ({
  ...{ type: "step_started", step_id: stepId(index), input },
});
/** Moves a step of the task. */
export const move = (index: number, progress: number): RunEvent => ({
  ...{ type: "step_progressed", step_id: stepId(index), progress },
});
/** Ends a step of the task well. */
export const finish = (index: number, output: Source = SOURCE): RunEvent => ({
  ...{ type: "step_succeeded", step_id: stepId(index), output },
});

/** The events of a task that goes well, so that half of its encode is event 6. */
export const EVENTS: readonly RunEvent[] = [
  ...[start(0), finish(0), start(1), finish(1), start(2)],
  ...[move(2, 10), move(2, 50), finish(2), start(3), finish(3)],
];

/** The task after each event, one second apart; the first is the queued one. */
export function history(events: readonly RunEvent[] = EVENTS): Task[] {
  const tasks = [QUEUED];
  for (const [index, event] of events.entries()) {
    tasks.push(applyToTask(tasks.at(-1) ?? QUEUED, event, NOW + (index + 1) * 1000));
  }
  return tasks;
}
