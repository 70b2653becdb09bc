import { expect, test, vi } from "vitest";
import { createEncodeProgress } from "../../src/encoders/run/encoding.ts";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { MediaError } from "../../src/media/errors.ts";
import type { Chunk } from "../../src/media/plan.ts";
import { clip } from "../fixtures/clips.ts";
import { noiseClip } from "../judge/clips.ts";
import { videoSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { createHolding, encoderOf, trial } from "./encode-trial.ts";
import { createNativeEncoder } from "./native-encoder.ts";

test("reports waiting for an encoder once", async () => {
  const native = createNativeEncoder();
  const encoder = encoderOf(async (job) => {
    for (let index = 0; index < 5; index++) job.onWait?.();
    return native.encode(job);
  });
  const run = await trial(await clip("png"), "image", {}, { encoder });
  await runEncode(run);
  expect(run.reports).toEqual([0, null, 100]);
});

test("weights chunks by their seconds, reports at most once a second, and never decreases", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  try {
    const { encoder, jobs } = createHolding();
    const run = await trial(
      await noiseClip(4),
      "video",
      { width: 80 },
      { encoder, max_in_flight: 5, hints: { chunk_seconds: 1 } },
    );
    const result = runEncode({ ...run, signal: AbortSignal.timeout(20_000) });
    result.catch(() => {});
    await expect.poll(() => jobs.length).toBe(5);
    jobs.sort((a, b) => a.chunk - b.chunk);
    const report = async (chunk: number, share: number, seconds: number) => {
      vi.setSystemTime(seconds * 1000);
      jobs[chunk]?.job.onProgress?.(share);
      await Promise.resolve();
    };
    await report(0, 0.5, 10);
    await report(1, 1, 10.9);
    await report(2, 0, 11);
    await report(0, 0.1, 12);
    await report(4, 1, 13);
    // Four seconds of pictures, and four of sound, which take as long as 0.05 s of pictures.
    expect(run.reports).toEqual([0, 11, 35, 35, 36]);
    jobs[0]?.fail(new MediaError("encode_failed", "No."));
    await expect(result).rejects.toMatchObject({ kind: "encode_failed" });
  } finally {
    vi.useRealTimers();
  }
});

test("reports the first percent at once, though it has just reported none", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  try {
    const source = videoSource({ duration: 10 });
    const plan = createPlan(source, "video", { width: 80 });
    const reports: (number | null)[] = [];
    const progress = createEncodeProgress(plan, source, async (percent) => void reports.push(percent));
    const [chunk] = plan.chunks as [Chunk];
    for (const [at, share] of [
      [0, 0.001],
      [100, 0.002],
      [200, 0.02],
      [300, 0.5],
      [1200, 0.6],
    ] as const) {
      vi.setSystemTime(at);
      progress.share(chunk, share);
      await Promise.resolve();
    }
    expect(reports).toEqual([0, 1, 57]);
  } finally {
    vi.useRealTimers();
  }
});

test("does not count audio encoded in parallel as a second video encoder", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  try {
    const plan = createPlan(
      videoSource({ duration: 20 }),
      "video",
      { format: "webm" },
      { chunk_seconds: 10 },
    );
    const reports: (number | null)[] = [];
    const progress = createEncodeProgress(plan, videoSource({ duration: 20 }), async (percent) => {
      reports.push(percent);
    });
    const [first, , sound] = plan.chunks as [Chunk, Chunk, Chunk];
    expect(plan.chunks.map(({ track }) => track)).toEqual(["video", "video", "audio"]);
    for (const [chunk, share] of [
      [first, 0.1],
      [sound, 0.5],
      [first, 0.5],
      [first, 1],
    ] as const) {
      vi.setSystemTime(Date.now() + 1000);
      progress.share(chunk, share);
      await Promise.resolve();
    }
    expect(reports).toEqual([4, 4, 23, 47]);
  } finally {
    vi.useRealTimers();
  }
});

test.for([
  // Chunk, its finished share, and the percentage after that.
  ["one encoder", [0, 0.5, 15], [0, 1, 31], [1, 0.5, 47], [1, 1, 63], [2, 0.5, 79], [2, 1, 95]],
  // The second encoder becomes known at 31 %; what is left takes one and a half chunks' time, as the last is encoded alone.
  ["two encoders", [0, 0.5, 15], [1, 0.5, 31], [0, 1, 52], [1, 1, 52], [2, 0.5, 73], [2, 1, 95]],
] as const)("the percentage reflects the time that three chunks take on %s", async ([, ...steps]) => {
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
  try {
    const source = videoSource({ duration: 30, codecs: { video: "h264", audio: null }, audio: undefined });
    const plan = createPlan(source, "video", { width: 80 }, { chunk_seconds: 10 });
    const reports: (number | null)[] = [];
    const progress = createEncodeProgress(plan, source, async (percent) => void reports.push(percent));
    for (const [chunk, share] of steps) {
      vi.setSystemTime(Date.now() + 1000);
      progress.share(plan.chunks[chunk] as Chunk, share);
      await Promise.resolve();
    }
    expect(reports).toEqual(steps.map(([, , percent]) => percent));
  } finally {
    vi.useRealTimers();
  }
});
