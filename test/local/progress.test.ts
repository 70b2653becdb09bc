import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { Source } from "../../src/media/source.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import { applyToTask } from "../../src/runs/transitions.ts";
import { createProgress, describeTask, percentOf } from "../../worker/local/demo-terminal.ts";

const id = createIds(() => 0.5);
const request = { input: "https://a.example/b", kind: "video", options: {}, metadata: {} } as const;
const queued = createTask(request, id, 1000);

const output: Source = {
  object: "source",
  url: "https://m.example/o.mp4",
  kind: "video",
  format: "mp4",
  width: 640,
  height: 360,
  duration: 10,
  codecs: { video: "h264", audio: "aac" },
  encoder: "light",
  reason: "Fits the encoder's memory and time limits.",
};

// Each event takes a second.
function after(...events: [index: number, progress: number | "done"][]): Task {
  let now = 1000;
  return events.reduce((task, [index, progress]) => {
    const step_id = task.steps[index]?.id ?? "";
    const started = applyToTask(task, { type: "step_started", step_id, input: null }, now);
    now += 1000;
    if (progress !== "done") return applyToTask(started, { type: "step_progressed", step_id, progress }, now);
    return applyToTask(started, { type: "step_succeeded", step_id, output }, now);
  }, queued);
}

test.for([
  { task: after(), percent: 0 },
  { task: after([0, "done"]), percent: 16 },
  { task: after([0, "done"], [1, "done"]), percent: 33 },
  { task: after([0, "done"], [1, "done"], [2, 50]), percent: 58 },
  { task: after([0, "done"], [1, "done"], [2, "done"]), percent: 83 },
  { task: after([0, "done"], [1, "done"], [2, "done"], [3, "done"]), percent: 100 },
] as const)("percent of a task %#", ({ task, percent }) => {
  expect(percentOf(task)).toBe(percent);
});

test("prints each change as a line when the output is not a terminal", () => {
  const out = new PassThrough() as unknown as NodeJS.WriteStream;
  const progress = createProgress(out);
  progress.show(queued);
  progress.show(queued);
  progress.show(after([0, "done"], [1, "done"], [2, 50]));
  progress.show(after([0, "done"], [1, "done"], [2, 51]));
  progress.end();
  expect(String(out.read())).toBe(
    "  0%  probe ·  ingest ·  video ·  upload ·\n 50%  probe ✓  ingest ✓  video …  upload ·\n",
  );
});

test("redraws the bar in place on a terminal, within its width", () => {
  const out = Object.assign(new PassThrough(), { isTTY: true, columns: 40 }) as unknown as NodeJS.WriteStream;
  const progress = createProgress(out);
  progress.show(after([0, "done"], [1, "done"], [2, 50]));
  progress.end();
  expect(String(out.read())).toBe("\r\x1b[K██████████████░░░░░░░░░░  58%  probe ✓ \n");
});

test("the report shows the output, the time taken and the encoder", () => {
  const task = after([0, "done"], [1, "done"], [2, "done"], [3, "done"]);
  expect(describeTask(task, "/home/o.mp4", 1, 563_509)).toEqual([
    "output    /home/o.mp4",
    "          mp4, 640x360, h264, aac, 10.00 s, 563.5 kB",
    "time      4.0 s (probe 1.0 s, ingest 1.0 s, video 1.0 s, upload 1.0 s)",
    "encoder   light: Fits the encoder's memory and time limits.",
  ]);
});
