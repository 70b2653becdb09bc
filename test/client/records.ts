import type { Source } from "../../src/media/source.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import { applyToTask, type RunEvent } from "../../src/runs/transitions.ts";

/** Creation time of {@link QUEUED}. */
export const NOW = 1_795_170_600_000;

/** The media of the tests: 40 seconds of video. */
export const SOURCE: Source = {
  object: "source",
  url: "https://example.com/a.mp4",
  kind: "video",
  format: "mp4",
  duration: 40,
};

/** A new task. */
export const QUEUED: Task = createTask(
  { input: SOURCE.url, kind: "video", options: { start: 10, end: 30 }, metadata: {} },
  createIds(() => 0.5),
  NOW,
);

const stepId = (index: number) => QUEUED.steps[index]?.id ?? "";

export const start = (index: number, input: Source = SOURCE): RunEvent => ({
  ...{ type: "step_started", step_id: stepId(index), input },
});
export const move = (index: number, progress: number): RunEvent => ({
  ...{ type: "step_progressed", step_id: stepId(index), progress },
});
export const finish = (index: number, output: Source = SOURCE): RunEvent => ({
  ...{ type: "step_succeeded", step_id: stepId(index), output },
});

/** The events of a successful task; event 6 is the middle of its encode. */
export const EVENTS: readonly RunEvent[] = [
  ...[start(0), finish(0), start(1), finish(1), start(2)],
  ...[move(2, 10), move(2, 50), finish(2), start(3), finish(3)],
];

/** The task before and after each event, one second apart. */
export function history(events: readonly RunEvent[] = EVENTS): Task[] {
  const tasks = [QUEUED];
  for (const [index, event] of events.entries()) {
    tasks.push(applyToTask(tasks.at(-1) ?? QUEUED, event, NOW + (index + 1) * 1000));
  }
  return tasks;
}
