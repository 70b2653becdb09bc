import { expect, test } from "vitest";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { MediaError } from "../../src/media/errors.ts";
import { clip } from "../fixtures/clips.ts";
import { noiseClip } from "../judge/clips.ts";
import { createHolding, encoderOf, trial } from "./encode-trial.ts";
import { createNativeEncoder } from "./native-encoder.ts";

test.for([
  {
    name: "its own error",
    thrown: new MediaError("out_of_memory", "Too much."),
    failure: { kind: "out_of_memory", message: "Too much." },
  },
  {
    name: "another error",
    thrown: new Error("at /secret/path"),
    failure: { kind: "encode_failed", message: expect.not.stringContaining("secret") },
  },
] as const)("an encoder that fails with $name leaves no stored files", async ({ thrown, failure }) => {
  const encoder = encoderOf(() => Promise.reject(thrown));
  const run = await trial(await clip("png"), "image", {}, { encoder });
  await expect(runEncode(run)).rejects.toMatchObject({ name: "MediaError", ...failure });
  expect(run.storage.keys).toEqual([]);
});

test.for([
  { name: "no file", files: [] },
  { name: "an empty file", files: [{ name: "output.png", mime: "image/png", bytes: new Uint8Array() }] },
] as const)("fails when an encoder returns $name", async ({ files }) => {
  const run = await trial(await clip("png"), "image", {}, { encoder: encoderOf(async () => [...files]) });
  await expect(runEncode(run)).rejects.toMatchObject({
    kind: "encode_failed",
    message: "The failing encoder returned an empty file.",
  });
  expect(run.storage.keys).toEqual([]);
});

test("removes all written files when the storage fails midway", async () => {
  const run = await trial(await noiseClip(7), "adaptive_video", {});
  const full = new MediaError("storage_full", "There is no room.");
  const storage = {
    ...run.storage,
    write: (key: string, body: ReadableStream<Uint8Array> | Uint8Array, mime: string) =>
      run.storage.keys.length === 4 ? Promise.reject(full) : run.storage.write(key, body, mime),
  };
  await expect(runEncode({ ...run, storage })).rejects.toBe(full);
  expect(run.storage.keys).toHaveLength(4);
  for (const key of run.storage.keys) expect(await run.storage.head(key)).toBeNull();
});

test("an aborted run rejects with its reason", async () => {
  const stop = new AbortController();
  const reason = new Error("aborted");
  const native = createNativeEncoder();
  const encoder = encoderOf((job) => {
    stop.abort(reason);
    return native.encode(job);
  });
  const run = await trial(
    await clip("mp4", { seconds: 1 }),
    "video",
    { width: 80 },
    { encoder, signal: stop.signal },
  );
  await expect(runEncode(run)).rejects.toBe(reason);
  expect(run.storage.keys).toEqual([]);
});

test("respects the limit on chunks in flight; a failed chunk stops the others and all files are removed", async () => {
  const { encoder, jobs } = createHolding();
  const run = await trial(
    await noiseClip(7),
    "video",
    { width: 80 },
    { encoder, max_in_flight: 3, hints: { chunk_seconds: 1 } },
  );
  expect(run.plan.chunks).toHaveLength(8);
  const result = runEncode(run);
  result.catch(() => {});
  await expect.poll(() => jobs.length).toBe(3);
  jobs[1]?.end([{ name: "video.mp4", mime: "video/mp4", bytes: new Uint8Array(9) }]);
  await expect.poll(() => jobs.length).toBe(4);
  expect(jobs.map(({ chunk }) => chunk)).toEqual(expect.arrayContaining([7, 0, 1, 2]));
  expect(run.storage.keys).toHaveLength(1);
  jobs[2]?.fail(new MediaError("out_of_memory", "Too much."));
  await expect(result).rejects.toMatchObject({ kind: "out_of_memory", message: "Too much." });
  expect(jobs.map(({ job }) => job.signal.aborted)).toEqual([true, true, true, true]);
  for (const key of run.storage.keys) expect(await run.storage.head(key)).toBeNull();
});
