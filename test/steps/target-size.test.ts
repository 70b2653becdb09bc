import { expect, test } from "vitest";
import type { Encoder } from "../../src/encoders/encoder.ts";
import type { VideoOptions } from "../../src/media/options.ts";
import type { Plan } from "../../src/media/plan.ts";
import type { Source } from "../../src/media/source.ts";
import { createIds } from "../../src/runs/ids.ts";
import { runTask } from "../../src/runs/pipeline.ts";
import type { Report } from "../../src/runs/ports.ts";
import { openStored } from "../../src/runs/steps/inputs.ts";
import type { StepTools } from "../../src/runs/steps/step-tools.ts";
import { createStepWork } from "../../src/runs/steps/step-work.ts";
import { createTask, type Task } from "../../src/runs/task.ts";
import { applyToTask } from "../../src/runs/transitions.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { videoSource } from "../plan/source.ts";

interface Tried {
  encoder: string;
  /** Bits per second of the pictures; null for a copy. */
  bitrate: number | null;
}

function bitrateOf({ video }: Plan): number | null {
  return video?.mode === "encode" && "bitrate" in video.rate ? video.rate.bitrate : null;
}

function outputOf({ steps }: Task) {
  return steps.findLast(({ output }) => output)?.output;
}

/** Runs a task whose encoders write files of these sizes in turn; returns the task, its trials and its percentages. */
async function run(
  source: Source,
  options: VideoOptions,
  sizes: Readonly<Record<string, readonly number[]>>,
) {
  const storage = createMemoryStorage();
  await storage.write("in", new Uint8Array(1000), "video/mp4");
  const open = (key: string) => storageReader(storage, key);
  const tried: Tried[] = [];
  const percents: number[] = [];
  const encoderOf = ([name, bytes]: [string, readonly number[]]): Encoder => ({
    name,
    refuse: ({ video }) => ((name === "copy") === (video?.mode === "copy") ? null : { code: "other_work" }),
    encode: async ({ plan }) => {
      const before = tried.filter(({ encoder }) => encoder === name).length;
      tried.push({ encoder: name, bitrate: bitrateOf(plan) });
      return [{ name: "all.mp4", mime: "video/mp4", bytes: new Uint8Array(bytes[before] ?? 1) }];
    },
  });
  const encoders = Object.entries(sizes).map(encoderOf);
  const tools: StepTools = {
    storage,
    encoders,
    max_seconds: 3600,
    open,
    stem: "output",
    remote: null,
    inFlight: () => 1,
    offers: async (plan, source, missed = []) =>
      encoders.map((encoder) => ({
        encoder: encoder.name,
        refusal: missed.includes(encoder.name) ? { code: "output_bytes" } : encoder.refuse(plan, source),
        ...{ chunk_seconds: null, chunks: 1, at_once: 1, seconds: null },
      })),
    inputs: { open: (url) => openStored(storage, "in", url, open) },
    probe: async () => source,
    url: async (key) => `http://stored/${key}`,
    key: async (at) => (at.startsWith("http://stored/") ? at.slice("http://stored/".length) : null),
  };
  const record = createTask(
    { input: "http://x.example/in", kind: "video", options, metadata: {} },
    createIds(() => 0.5),
    0,
  );
  let task: Task = record;
  const report: Report = async (event) => {
    task = applyToTask(task, event, 0);
    const step = task.steps.find(({ kind }) => kind === "video");
    if (typeof step?.progress === "number") percents.push(step.progress);
    return true;
  };
  const remembered = new Map<string, unknown>();
  await runTask(record, createStepWork(tools, { kind: "video", options }), report, async (name, work) => {
    if (!remembered.has(name)) remembered.set(name, await work(AbortSignal.timeout(5000)));
    return remembered.get(name) as never;
  });
  return { task, tried, percents };
}

const SILENT = videoSource({ codecs: { video: "vp9", audio: null }, format: "webm", filesize: 2_000_000 });
// The container takes 4000 bytes and 20 for each of 250 pictures; the pictures get 0.9 of the rest.
const LIMIT = 1_009_000;
const FIRST = 720_000;
// Scales the bitrate so that pictures fill 0.985 of the limit, without the container.
const corrected = (bitrate: number, size: number) =>
  Math.floor((bitrate * (0.985 * LIMIT - 9000)) / (size - 9000));

test("a video that keeps within its target_size is encoded once", async () => {
  const { tried, task } = await run(SILENT, { target_size: LIMIT }, { webcodecs: [LIMIT], native: [1] });
  expect(tried).toEqual([{ encoder: "webcodecs", bitrate: FIRST }]);
  expect([task.status, task.error]).toEqual(["succeeded", null]);
});

test("a file that is too large is encoded again at a bitrate corrected by its size", async () => {
  const { tried, task, percents } = await run(
    SILENT,
    { target_size: LIMIT },
    { webcodecs: [1_500_000, 1_000_000], native: [1] },
  );
  expect(tried).toEqual([
    { encoder: "webcodecs", bitrate: FIRST },
    { encoder: "webcodecs", bitrate: corrected(FIRST, 1_500_000) },
  ]);
  expect(outputOf(task)).toMatchObject({ encoder: "webcodecs" });
  expect(percents).toEqual(percents.toSorted((one, other) => one - other));
});

test("the next encoder takes over when WebCodecs misses twice", async () => {
  const { tried, task } = await run(
    SILENT,
    { target_size: LIMIT },
    { webcodecs: [1_500_000, 1_100_000], native: [1_000_000] },
  );
  expect(tried.map(({ encoder }) => encoder)).toEqual(["webcodecs", "webcodecs", "native"]);
  expect(tried[2]?.bitrate).toBe(FIRST);
  expect(outputOf(task)).toMatchObject({
    encoder: "native",
    refusals: [{ encoder: "webcodecs", code: "output_bytes" }],
  });
});

test("a task whose files stay too large fails and leaves no file", async () => {
  const sizes = { native: [1_200_000, 1_100_000, 1_050_000] };
  const { tried, task } = await run(SILENT, { target_size: LIMIT }, sizes);
  expect(tried).toHaveLength(3);
  expect(task.error).toMatchObject({
    kind: "invalid_options",
    message: `options.target_size (${LIMIT}) is too small for this video; the smallest result has 1050000 bytes.`,
    reason: { code: "bytes_too_few", max_bytes: LIMIT, least_bytes: 1_050_000 },
  });
  const alone = await run(SILENT, { target_size: LIMIT }, { webcodecs: [1_200_000, 1_100_000] });
  expect(alone.task.error).toMatchObject({ reason: { code: "bytes_too_few", least_bytes: 1_100_000 } });
});

test.for([
  { size: LIMIT, encoders: ["copy"] },
  { size: LIMIT + 1, encoders: ["copy", "native"] },
])("a copy of $size bytes is taken only within target_size", async ({ size, encoders }) => {
  const source = videoSource({ filesize: LIMIT - 1, codecs: { video: "h264", audio: null } });
  const { tried } = await run(source, { target_size: LIMIT }, { copy: [size], native: [LIMIT] });
  expect(tried.map(({ encoder }) => encoder)).toEqual(encoders);
});
