import { expect, test } from "vitest";
import type { EncodeRun } from "../../src/encoders/run/encoding.ts";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { FORMATS } from "../../src/media/formats.ts";
import { clip } from "../fixtures/clips.ts";
import { noiseClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";
import { fetchStored, trial } from "./encode-trial.ts";
import { createDurably, createNativeEncoder } from "./native-encoder.ts";

test("stores short work as one file under its name", async () => {
  const input = await clip("mp4", { seconds: 1 });
  const run = await trial(input, "video", { width: 80, quality: "high" });
  const result = await runEncode(run);
  const { size } = result;
  expect(result).toEqual({
    ...{ key: "out/run/clip.mp4", files: 1, size },
    counts: { pictures: { source: 25, output: 25 }, sound: { source: 1, output: 1.045 } },
  });
  expect(run.reports).toEqual([0, 100]);
  expect(run.storage.keys).toEqual(["out/run/clip.mp4"]);
  expect(await run.storage.head("out/run/clip.mp4")).toMatchObject({ size, mime: "video/mp4" });
  const path = await fetchStored(run.storage, result.key);
  expect((await measureLikeness(path, input, { filter: "scale=80:44" })).mean).toBeGreaterThan(LIKE);
});

test.for([
  { kind: "audio", options: { format: "opus" }, key: "out/run/clip.opus", mime: FORMATS.audio.opus.mime },
  { kind: "audio", options: { format: "mp3" }, key: "out/run/clip.mp3", mime: "audio/mpeg" },
  { kind: "image", options: { format: "jpeg" }, key: "out/run/clip.jpg", mime: "image/jpeg" },
  { kind: "video", options: { format: "webm" }, key: "out/run/clip.webm", mime: "video/webm" },
  { kind: "video", options: { format: "mov" }, key: "out/run/clip.mov", mime: "video/quicktime" },
] as const)("stores $kind with $options as $key", async ({ kind, options, key, mime }) => {
  const run = await trial(await clip("mp4", { seconds: 1 }), kind, options);
  expect(await runEncode(run)).toMatchObject({ key, files: 1 });
  expect(await run.storage.head(key)).toMatchObject({ mime });
});

test("encodes long work in chunks and stitches them", async () => {
  const input = await noiseClip(3);
  const encoder = createNativeEncoder();
  const run = await trial(
    input,
    "video",
    { width: 80, quality: "high" },
    { encoder, hints: { chunk_seconds: 1 } },
  );
  const result = await runEncode(run);
  // The audio chunk starts early.
  const started = encoder.jobs.map(({ chunk, id }) => `${chunk.track} ${id}`);
  expect(started.slice(0, 2).sort()).toEqual(["audio run-3", "video run-0"]);
  expect(started.slice(2)).toEqual(["video run-1", "video run-2"]);
  expect(result).toMatchObject({ key: "out/run/clip.mp4", files: 1 });
  expect(run.reports[0]).toBe(0);
  expect(run.reports.slice(-2)).toEqual([95, 100]);
  const path = await fetchStored(run.storage, result.key);
  const { picture, sound } = await readFacts(path);
  expect(picture?.times).toHaveLength(75);
  expect(sound?.codec).toBe("aac");
  expect((await measureLikeness(path, input, { filter: "scale=80:44" })).worst).toBeGreaterThan(LIKE - 0.02);
  // Only the output remains.
  expect(run.storage.keys.slice(0, -1).every((key) => key.startsWith("work/run/chunks/"))).toBe(true);
  for (const key of run.storage.keys.slice(0, -1)) expect(await run.storage.head(key)).toBeNull();
});

test("after a crash only unfinished chunks are encoded, under the same keys", async () => {
  const input = await clip("mp4_silent", { seconds: 3 });
  const encoder = createNativeEncoder();
  const { durably, results } = createDurably();
  const run = await trial(input, "video", { width: 80 }, { encoder, hints: { chunk_seconds: 1 }, durably });
  const crash = new Error("the host crashed");
  const dying: EncodeRun = {
    ...run,
    max_in_flight: 1,
    durably: (name, work) => (name === "encode chunk 2" ? Promise.reject(crash) : durably(name, work)),
  };
  await expect(runEncode(dying)).rejects.toBe(crash);
  expect([...results.keys()]).toEqual(["encode chunk 0", "encode chunk 1"]);
  const result = await runEncode(run);
  expect(encoder.jobs.map(({ chunk }) => chunk.index)).toEqual([0, 1, 2]);
  const path = await fetchStored(run.storage, result.key);
  expect((await readFacts(path)).picture?.times).toHaveLength(75);
  // A run that keeps no results repeats everything and overwrites the output.
  const repeat = await runEncode({ ...run, durably: createDurably().durably });
  expect(repeat.key).toBe(result.key);
  expect(repeat.size).toBe(result.size);
});

test("writes adaptive video with segments first and the master playlist last", async () => {
  const run = await trial(await noiseClip(7), "adaptive_video", {});
  const { key, files, size } = await runEncode(run);
  expect(key).toBe("out/run/master.m3u8");
  expect(run.storage.keys.at(-1)).toBe(key);
  expect(run.storage.keys).toHaveLength(files);
  const kinds = run.storage.keys.map((each) => (each.endsWith(".m3u8") ? "playlist" : "segment"));
  expect(kinds).toEqual([...Array(6).fill("segment"), ...Array(3).fill("playlist")]);
  let bytes = 0;
  for (const each of run.storage.keys) {
    const mime = each.endsWith(".m3u8") ? "application/vnd.apple.mpegurl" : "video/mp4";
    const info = await run.storage.head(each);
    expect(info?.mime).toBe(mime);
    bytes += info?.size ?? 0;
  }
  expect(size).toBe(bytes);
});
