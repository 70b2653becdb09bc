import { expect, test, vi } from "vitest";
import { MediaError } from "../../src/core/errors.ts";
import { runEncode } from "../../src/encoders/run-encode.ts";
import { clip } from "../fixtures/clips.ts";
import { noiseClip } from "../judge/clips.ts";
import { createHolding, encoderOf, trial } from "./encode-trial.ts";
import { createNativeEncoder } from "./native-encoder.ts";

test("waiting for an encoder is told, one word at a time", async () => {
  const native = createNativeEncoder();
  const encoder = encoderOf(async (job) => {
    for (let index = 0; index < 5; index++) job.onWait?.();
    return native.encode(job);
  });
  const run = await trial(await clip("png"), "image", {}, { encoder });
  await runEncode(run);
  expect(run.reports).toEqual([0, null, 100]);
});

test("progress is the share of all chunks by their seconds, at most once a second, and never goes down", async () => {
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
    const tell = async (chunk: number, share: number, seconds: number) => {
      vi.setSystemTime(seconds * 1000);
      jobs[chunk]?.job.onProgress?.(share);
      await Promise.resolve();
    };
    await tell(0, 0.5, 10);
    await tell(1, 1, 10.9);
    await tell(2, 0, 11);
    await tell(0, 0.1, 12);
    await tell(4, 1, 13);
    // 4 seconds of pictures, and as many of sound that weigh a tenth: of 4.4, times 95.
    expect(run.reports).toEqual([0, 10, 32, 32, 41]);
    jobs[0]?.fail(new MediaError("encode_failed", "No."));
    await expect(result).rejects.toMatchObject({ kind: "encode_failed" });
  } finally {
    vi.useRealTimers();
  }
});
