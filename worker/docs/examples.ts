import type { EncodeKind, StepKind } from "../../src/core/formats.ts";
import { createIds } from "../../src/core/ids.ts";
import { parseStepRequest, parseTaskRequest } from "../../src/core/requests.ts";
import type { Source } from "../../src/core/source.ts";
import { createStep, type Step } from "../../src/core/step.ts";
import { createTask, requestOf, type Task } from "../../src/core/task.ts";
import { applyToStep, applyToTask } from "../../src/core/transitions.ts";

// Made by the code that makes real ones, with a fixed clock and fixed dice, so that they cannot drift from the truth.
const NOW = Date.UTC(2026, 10, 20, 9, 30);
const id = createIds(createDice());

/** A body of `POST /tasks` for each kind. */
export const TASK_REQUESTS = {
  video: {
    input: "https://example.com/clip.mov",
    kind: "video",
    options: {
      format: "webm",
      codec: "vp9",
      width: 1280,
      height: 720,
      fit: "contain",
      background: "#000000",
    },
    metadata: { order: 1234 },
  },
  audio: {
    input: "https://example.com/clip.mov",
    kind: "audio",
    options: { format: "mp3", bitrate: 192_000, start: 1.5, end: 31.5 },
  },
  image: {
    input: "https://example.com/clip.mov",
    kind: "image",
    options: { format: "jpeg", quality: "high", width: "50%", start: 2 },
  },
  animation: {
    input: "https://example.com/clip.mov",
    kind: "animation",
    options: { format: "gif", width: 480, fps: 12, start: 2, end: 5 },
  },
  storyboard: {
    input: "https://example.com/clip.mov",
    kind: "storyboard",
    options: { interval: 5, width: 160, columns: 5, rows: 5 },
  },
  waveform: {
    input: "https://example.com/clip.mov",
    kind: "waveform",
    options: { format: "json", pixels_per_second: 100, bits: 8 },
  },
  adaptive_video: {
    input: "https://example.com/clip.mov",
    kind: "adaptive_video",
    options: { format: "hls", height: 720 },
  },
} as const satisfies Record<EncodeKind, unknown>;

/** The output of a probe of the example clip. */
const SOURCE: Source = {
  object: "source",
  url: "https://example.com/clip.mov",
  kind: "video",
  format: "mov",
  mime: "video/quicktime",
  filesize: 8_423_117,
  width: 1920,
  height: 1080,
  duration: 34.2,
  codecs: { video: "h264", audio: "aac" },
  fps: 30,
  bitrate: 1_970_320,
  audio: { channels: 2, sample_rate: 48_000 },
};

/** A body of `POST /steps` for each kind. */
export const STEP_REQUESTS = {
  probe: { kind: "probe", input: { url: "https://example.com/clip.mov" } },
  ingest: { kind: "ingest", input: { url: "https://example.com/clip.mov" } },
  video: { kind: "video", input: SOURCE, options: { format: "mp4", height: 720 } },
  audio: { kind: "audio", input: SOURCE, options: { format: "opus" } },
  image: { kind: "image", input: SOURCE, options: { format: "webp", width: 320 } },
  animation: { kind: "animation", input: SOURCE, options: { format: "webp", end: 3 } },
  storyboard: { kind: "storyboard", input: SOURCE, options: { interval: 5 } },
  waveform: { kind: "waveform", input: SOURCE, options: { format: "png", width: 1200, height: 200 } },
  adaptive_video: { kind: "adaptive_video", input: SOURCE, options: { format: "hls" } },
  upload: {
    kind: "upload",
    input: { object: "source", url: "https://example.com/clip.mov", kind: "video", format: "mov" },
    options: { url: "s3://my-bucket/clip.mov", connection_id: "conn_01kaggm8q0fzr2n5v3x7c1d9jb" },
  },
} as const satisfies Record<StepKind, unknown>;

/** A task just created. */
export const QUEUED_TASK: Task = createTask(parseTaskRequest(TASK_REQUESTS.video), id, NOW);
/** A task whose encode is half done. */
export const PROCESSING_TASK: Task = runTo(QUEUED_TASK, 2, 47);
/** A task that ended well. */
export const SUCCEEDED_TASK: Task = runTo(QUEUED_TASK, 4);
/** A task whose input was not there. */
export const FAILED_TASK: Task = fail(QUEUED_TASK);
/** A task that was cancelled while it encoded. */
export const CANCELLED_TASK: Task = applyToTask(PROCESSING_TASK, { type: "cancelled" }, NOW + 9000);

/** A task made by retrying the one that failed. */
export const RETRIED_TASK: Task = createTask(requestOf(FAILED_TASK), id, NOW + 5000);

/** A standalone probe just created. */
export const WAITING_STEP: Step = createStep(parseStepRequest(STEP_REQUESTS.probe), id, NOW);
/** A standalone probe that ended well. */
export const SUCCEEDED_STEP: Step = finish(WAITING_STEP);
/** A standalone probe that was cancelled. */
export const CANCELLED_STEP: Step = applyToStep(WAITING_STEP, { type: "cancelled" }, NOW + 300);

// Runs the first `count` steps; the next one is then `progress` percent done.
function runTo(task: Task, count: number, progress?: number): Task {
  const outputs = outputsOf(task);
  return task.steps.slice(0, count + 1).reduce((before, { id: step_id }, index) => {
    const output = outputs[index];
    const input = outputs[index - 1] ?? { object: "external_file" as const, url: task.input };
    if (!output || (index === count && progress === undefined)) return before;
    const started = applyToTask(before, { type: "step_started", step_id, input }, NOW + index * 2000);
    if (index === count && progress !== undefined) {
      return applyToTask(started, { type: "step_progressed", step_id, progress }, NOW + 8000);
    }
    return applyToTask(started, { type: "step_succeeded", step_id, output }, NOW + index * 2000 + 1900);
  }, task);
}

function outputsOf(task: Task): Source[] {
  const base = "https://media.example/media/XrLQZS8Yh0pV3mJ6tB1nC7uKfA2dWgE4iR9oMxTsPqk.1795771800";
  const ingested: Source = { ...SOURCE, url: `${base}/work/${task.id}/input` };
  const encoded: Source = {
    object: "source",
    url: `${base}/out/${task.id}/clip.webm`,
    kind: "video",
    format: "webm",
    mime: "video/webm",
    filesize: 3_120_400,
    width: 1280,
    height: 720,
    duration: 34.2,
    codecs: { video: "vp9", audio: "opus" },
    encoder: "light",
    reason: "About 3 s of work.",
  };
  return [SOURCE, ingested, encoded, encoded];
}

function fail(task: Task): Task {
  const step_id = task.steps[0]?.id ?? "";
  const input = { object: "external_file" as const, url: task.input };
  const message = "The input answered 404: there is no such file.";
  const error = { kind: "input_not_found" as const, message, retryable: false };
  const started = applyToTask(task, { type: "step_started", step_id, input }, NOW + 200);
  return applyToTask(started, { type: "step_failed", step_id, error }, NOW + 450);
}

function finish(step: Step): Step {
  const started = applyToStep(step, { type: "step_started", step_id: step.id, input: step.input }, NOW + 150);
  return applyToStep(started, { type: "step_succeeded", step_id: step.id, output: SOURCE }, NOW + 900);
}

// https://en.wikipedia.org/wiki/Lehmer_random_number_generator
function createDice(): () => number {
  let state = 20_261_120;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
