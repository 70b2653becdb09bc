import { expect, test } from "vitest";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { readAll } from "../../src/storage/storage.ts";
import { clip } from "../fixtures/clips.ts";
import { noiseClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { encoderOf, fetchStored, trial } from "./encode-trial.ts";
import { createDurably, createRemoteEncoder, remoteTo } from "./native-encoder.ts";

/** Prepares a run with a remote encoder that shares the run's storage. */
async function remoteTrial(...args: Parameters<typeof trial>) {
  const run = await trial(...args);
  const { durably, results } = createDurably();
  return { ...run, durably, results, remote: remoteTo, encoder: createRemoteEncoder(run.storage) };
}

test("a remote encoder stores a single chunk at the final key", async () => {
  const run = await remoteTrial(await clip("mp4", { seconds: 1 }), "video", { width: 80 });
  const { key, size } = await runEncode(run);
  expect([key, run.storage.keys]).toEqual(["out/run/clip.mp4", ["out/run/clip.mp4"]]);
  expect((await run.storage.head(key))?.size).toBe(size);
});

test("a remote encoder stores chunks in the working folder, which is emptied", async () => {
  const options = { width: 80, format: "webm" };
  const run = await remoteTrial(await noiseClip(3), "video", options, { hints: { chunk_seconds: 1 } });
  const { key, files } = await runEncode(run);
  expect([key, files]).toEqual(["out/run/clip.webm", 1]);
  const [first = "", ...parts] = ["0-video", "1-video", "2-video", "3-audio"].map(
    (name) => `work/run/chunks/${name}.webm`,
  );
  expect(run.storage.keys.toSorted()).toEqual([key, first, ...parts]);
  for (const part of [first, ...parts]) expect(await run.storage.head(part)).toBeNull();
  expect((await readFacts(await fetchStored(run.storage, key))).picture?.times).toHaveLength(75);
});

test("stores chunks of adaptive video directly in the output and keeps durable results small", async () => {
  const run = await remoteTrial(await noiseClip(20), "adaptive_video", {}, { hints: { chunk_seconds: 6 } });
  const { key, files, size } = await runEncode(run);
  expect(run.encoder.jobs.map(({ chunk }) => chunk.track).toSorted()).toEqual([
    "audio",
    "video",
    "video",
    "video",
  ]);
  const outputs = run.storage.keys.filter((each) => each.startsWith("out/"));
  expect([key, outputs.at(-1), outputs.length]).toEqual([
    "out/run/master.m3u8",
    "out/run/master.m3u8",
    files,
  ]);
  const sizes = await Promise.all(outputs.map(async (each) => (await run.storage.head(each))?.size ?? 0));
  expect(size).toBe(sizes.reduce((sum, each) => sum + each));
  for (const each of run.storage.keys.filter((each) => each.startsWith("work/"))) {
    expect(await run.storage.head(each)).toBeNull();
  }
  for (const text of run.results.values()) expect(text.length).toBeLessThan(100);
  const playlist = await run.storage.read("out/run/90p/playlist.m3u8");
  const lines = new TextDecoder().decode(playlist ? await readAll(playlist.body) : undefined).split("\n");
  expect(lines.filter((line) => line.endsWith(".m4s"))).toEqual(
    [0, 1, 2, 3].map((index) => `seg_0000${index}.m4s`),
  );
});

test.for([
  { name: "is missing", file: { name: "clip.mp4", size: 5 } },
  { name: "has another name", file: { name: "other.mp4", size: 5 } },
] as const)("fails when the file of a remote encoder $name", async ({ file }) => {
  const encoder = encoderOf(async () => ({ written: [{ ...file, mime: "video/mp4" }], playlists: [] }));
  const run = await trial(await clip("mp4", { seconds: 1 }), "video", { width: 80 }, { encoder });
  await expect(runEncode(run)).rejects.toMatchObject({
    kind: "encode_failed",
    message: "The stored file differs from what the encoder reported.",
  });
});
