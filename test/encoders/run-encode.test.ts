import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { MediaError } from "../../src/core/errors.ts";
import { type EncodeKind, FORMATS } from "../../src/core/formats.ts";
import type { Storage } from "../../src/core/ports.ts";
import type { ChunkJob, EncodedFile, Encoder } from "../../src/encoders/encoder.ts";
import { type EncodeRun, runEncode } from "../../src/encoders/run-encode.ts";
import { type ChunkHints, createPlan } from "../../src/plan/index.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { readAll } from "../../src/storage/read-all.ts";
import { probe } from "../ffmpeg/native-encode.ts";
import { clip } from "../fixtures/clips.ts";
import { noiseClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";
import {
  createDurably,
  createNativeEncoder,
  createRemoteEncoder,
  openFile,
  remoteTo,
} from "./native-encoder.ts";

const home = await mkdtemp(join(tmpdir(), "framewright-run-"));
afterAll(() => rm(home, { recursive: true }));

interface Trial extends EncodeRun {
  reports: (number | null)[];
  storage: Storage & { keys: string[] };
}

/** Memory storage that tells in which order keys were written. */
function createStorage(): Trial["storage"] {
  const storage = createMemoryStorage();
  const keys: string[] = [];
  return {
    ...storage,
    keys,
    write(key, body, mime) {
      keys.push(key);
      return storage.write(key, body, mime);
    },
  };
}

async function trial(
  path: string,
  kind: EncodeKind,
  options: object,
  changes: Partial<EncodeRun> & { hints?: ChunkHints } = {},
): Promise<Trial> {
  const source = await probe(path);
  const reports: (number | null)[] = [];
  return {
    plan: createPlan(source, kind, options, changes.hints),
    source,
    input: () => openFile(path),
    id: "run",
    encoder: createNativeEncoder(),
    max_in_flight: 2,
    work: "work/run/chunks/",
    out: "out/run/",
    name: "clip",
    durably: createDurably().durably,
    progress: async (percent) => {
      reports.push(percent);
    },
    ...changes,
    reports,
    storage: createStorage(),
  };
}

async function fetchStored(storage: Storage, key: string): Promise<string> {
  const stored = await storage.read(key);
  if (!stored) throw new Error(`Nothing is stored as ${key}.`);
  const path = join(home, key.replaceAll("/", "-"));
  await writeFile(path, await readAll(stored.body));
  return path;
}

test("short work is one file under its name", async () => {
  const input = await clip("mp4", { seconds: 1 });
  const run = await trial(input, "video", { width: 80, quality: "high" });
  const result = await runEncode(run);
  const { size } = result;
  expect(result).toEqual({ key: "out/run/clip.mp4", files: 1, size });
  expect(run.reports).toEqual([0, 100]);
  expect(run.storage.keys).toEqual(["out/run/clip.mp4"]);
  expect(await run.storage.head("out/run/clip.mp4")).toMatchObject({ size, mime: "video/mp4" });
  const path = await fetchStored(run.storage, result.key);
  expect((await measureLikeness(path, input, { filter: "scale=80:44" })).mean).toBeGreaterThan(LIKE);
});

test.for([
  ["audio", { format: "opus" }, "out/run/clip.opus", FORMATS.audio.opus.mime],
  ["audio", { format: "mp3" }, "out/run/clip.mp3", "audio/mpeg"],
  ["image", { format: "jpeg" }, "out/run/clip.jpg", "image/jpeg"],
  ["video", { format: "webm" }, "out/run/clip.webm", "video/webm"],
  ["video", { format: "mov" }, "out/run/clip.mov", "video/quicktime"],
] as const)("%s with %o is stored as %s", async ([kind, options, key, mime]) => {
  const run = await trial(await clip("mp4", { seconds: 1 }), kind, options);
  expect(await runEncode(run)).toMatchObject({ key, files: 1 });
  expect(await run.storage.head(key)).toMatchObject({ mime });
});

test("long work is encoded chunk by chunk and stitched", async () => {
  const input = await noiseClip(3);
  const encoder = createNativeEncoder();
  const run = await trial(
    input,
    "video",
    { width: 80, quality: "high" },
    { encoder, hints: { chunk_seconds: 1 } },
  );
  const result = await runEncode(run);
  // The sound is not left for last.
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
  // The chunks are gone, the output alone is left.
  expect(run.storage.keys.slice(0, -1).every((key) => key.startsWith("work/run/chunks/"))).toBe(true);
  for (const key of run.storage.keys.slice(0, -1)) expect(await run.storage.head(key)).toBeNull();
});

test("after a crash only what was not done is done again, under the same keys", async () => {
  const input = await clip("mp4_silent", { seconds: 3 });
  const encoder = createNativeEncoder();
  const { durably, kept } = createDurably();
  const run = await trial(input, "video", { width: 80 }, { encoder, hints: { chunk_seconds: 1 }, durably });
  const crash = new Error("The host went away.");
  const dying: EncodeRun = {
    ...run,
    max_in_flight: 1,
    durably: (name, work) => (name === "encode chunk 2" ? Promise.reject(crash) : durably(name, work)),
  };
  await expect(runEncode(dying)).rejects.toBe(crash);
  expect([...kept.keys()]).toEqual(["encode chunk 0", "encode chunk 1"]);
  const result = await runEncode(run);
  expect(encoder.jobs.map(({ chunk }) => chunk.index)).toEqual([0, 1, 2]);
  const path = await fetchStored(run.storage, result.key);
  expect((await readFacts(path)).picture?.times).toHaveLength(75);
  // Once more from the start, without a memory: the output is written over itself.
  const again = await runEncode({ ...run, durably: createDurably().durably });
  expect(again.key).toBe(result.key);
  expect(again.size).toBe(result.size);
});

test("adaptive video: segments first, the master playlist last and measured", async () => {
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

const failing = (encode: Encoder["encode"]): Encoder => ({ name: "failing", can: () => null, encode });

test.for([
  [
    "its own error",
    new MediaError("out_of_memory", "Too much."),
    { kind: "out_of_memory", message: "Too much." },
  ],
  [
    "any other",
    new Error("at /secret/path"),
    { kind: "encode_failed", message: expect.not.stringContaining("secret") },
  ],
] as const)("an encoder that fails with %s leaves nothing behind", async ([, thrown, wanted]) => {
  const encoder = failing(() => Promise.reject(thrown));
  const run = await trial(await clip("png"), "image", {}, { encoder });
  await expect(runEncode(run)).rejects.toMatchObject({ name: "MediaError", ...wanted });
  expect(run.storage.keys).toEqual([]);
});

test.for([
  ["no file", []],
  ["an empty file", [{ name: "output.png", mime: "image/png", bytes: new Uint8Array() }]],
] as const)("an encoder that gives %s has failed", async ([, files]) => {
  const run = await trial(await clip("png"), "image", {}, { encoder: failing(async () => [...files]) });
  await expect(runEncode(run)).rejects.toMatchObject({
    kind: "encode_failed",
    message: "The failing encoder gave an empty file.",
  });
  expect(run.storage.keys).toEqual([]);
});

test("a storage that fails half-way is swept", async () => {
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

test("a run that is stopped stops with its reason", async () => {
  const stop = new AbortController();
  const reason = new Error("The run is over.");
  const native = createNativeEncoder();
  const encoder = failing((job) => {
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

test("waiting for an encoder is told, one word at a time", async () => {
  const native = createNativeEncoder();
  const encoder = failing(async (job) => {
    for (let index = 0; index < 5; index++) job.onWait?.();
    return native.encode(job);
  });
  const run = await trial(await clip("png"), "image", {}, { encoder });
  await runEncode(run);
  expect(run.reports).toEqual([0, null, 100]);
});

/** A run over an encoder on another machine, that shares the run's storage. */
async function remoteTrial(...args: Parameters<typeof trial>) {
  const run = await trial(...args);
  const { durably, kept } = createDurably();
  return { ...run, durably, kept, remote: remoteTo, encoder: createRemoteEncoder(run.storage) };
}

test("an encoder elsewhere stores whole work where it belongs", async () => {
  const run = await remoteTrial(await clip("mp4", { seconds: 1 }), "video", { width: 80 });
  const { key, size } = await runEncode(run);
  expect([key, run.storage.keys]).toEqual(["out/run/clip.mp4", ["out/run/clip.mp4"]]);
  expect((await run.storage.head(key))?.size).toBe(size);
});

test("an encoder elsewhere stores parts below the working folder", async () => {
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

test("chunks of adaptive video go straight to the output, and no piece remembers more than it must", async () => {
  const run = await remoteTrial(await noiseClip(20), "adaptive_video", {}, { hints: { chunk_seconds: 6 } });
  const { key, files, size } = await runEncode(run);
  expect(run.encoder.jobs.map(({ chunk }) => chunk.track).toSorted()).toEqual([
    "audio",
    "video",
    "video",
    "video",
  ]);
  const kept = run.storage.keys.filter((each) => each.startsWith("out/"));
  expect([key, kept.at(-1), kept.length]).toEqual(["out/run/master.m3u8", "out/run/master.m3u8", files]);
  const sizes = await Promise.all(kept.map(async (each) => (await run.storage.head(each))?.size ?? 0));
  expect(size).toBe(sizes.reduce((sum, each) => sum + each));
  for (const each of run.storage.keys.filter((each) => each.startsWith("work/"))) {
    expect(await run.storage.head(each)).toBeNull();
  }
  for (const text of run.kept.values()) expect(text.length).toBeLessThan(100);
  const playlist = await run.storage.read("out/run/90p/playlist.m3u8");
  const lines = new TextDecoder().decode(playlist ? await readAll(playlist.body) : undefined).split("\n");
  expect(lines.filter((line) => line.endsWith(".m4s"))).toEqual(
    [0, 1, 2, 3].map((index) => `seg_0000${index}.m4s`),
  );
});

test.for([
  ["is not there", { name: "clip.mp4", size: 5 }],
  ["has another name", { name: "other.mp4", size: 5 }],
] as const)("an encoder elsewhere whose file %s has failed", async ([, file]) => {
  const encoder = failing(async () => ({ written: [{ ...file, mime: "video/mp4" }], playlists: [] }));
  const run = await trial(await clip("mp4", { seconds: 1 }), "video", { width: 80 }, { encoder });
  await expect(runEncode(run)).rejects.toMatchObject({
    kind: "encode_failed",
    message: "The encoder did not store what it said it did.",
  });
});

/** An encoder whose jobs go on until they are let go, or stopped. */
function createHolding() {
  const jobs: {
    chunk: number;
    job: ChunkJob;
    end(files: EncodedFile[]): void;
    fail(thrown: unknown): void;
  }[] = [];
  const encoder = failing((job) => {
    const { promise, resolve, reject } = Promise.withResolvers<EncodedFile[]>();
    job.signal.addEventListener("abort", () => reject(job.signal.reason));
    jobs.push({ chunk: job.chunk.index, job, end: resolve, fail: reject });
    return promise;
  });
  return { encoder, jobs };
}

test("as many chunks as are allowed run at once; one that fails stops the others, and all is swept", async () => {
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
