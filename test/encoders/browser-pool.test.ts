import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { EncodeKind } from "../../src/core/formats.ts";
import { buildCore } from "../../worker/local/build-core.ts";
import { type Lab, openLab } from "../browser/lab.ts";
import type { PoolResult, PoolTask } from "../browser/pool.page.ts";
import { clip } from "../fixtures/clips.ts";
import { CLIP_FOLDER, makeClip } from "../fixtures/make-clip.ts";
import { readContainer } from "../judge/container.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";

let lab: Lab;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "framewright-pool-"));
  await mkdir(CLIP_FOLDER, { recursive: true });
  await buildCore(join(CLIP_FOLDER, "core"));
  await symlink(join(CLIP_FOLDER, "core"), join(home, "core"));
  lab = await openLab({ files: home });
});
afterAll(async () => {
  await lab?.close();
  await rm(home, { recursive: true, force: true });
});
beforeEach(() =>
  lab.page.evaluate(async () => {
    const page = await import("../browser/pool.page.ts");
    page.openPool();
  }),
);
afterEach(() => {
  expect(lab.complaints.splice(0)).toEqual([]);
});

/** Puts a file where the page finds it; gives its URL. */
async function serve(path: string): Promise<string> {
  const name = basename(path);
  await symlink(path, join(home, name)).catch(() => {});
  return `/files/${name}`;
}

/** Encodes in the page, and writes what came of it into a folder. */
async function encode<K extends EncodeKind>(path: string, task: Omit<PoolTask<K>, "clip">) {
  const clip = await serve(path);
  const result: PoolResult = await lab.page.evaluate(
    async (given) => {
      const { encodeInPool } = await import("../browser/pool.page.ts");
      return encodeInPool(given);
    },
    { ...task, clip } as PoolTask,
  );
  const folder = await mkdtemp(join(home, "out-"));
  for (const { name, base64 } of result.files) {
    const parts = name.split("/").slice(0, -1);
    await mkdir(join(folder, ...parts), { recursive: true });
    await writeFile(join(folder, name), Buffer.from(base64, "base64"));
  }
  return { ...result, folder, path: join(folder, result.main) };
}

/** Whether every value is at least as large as the one before. */
function rises(values: readonly number[]): boolean {
  return values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
}

const VIDEOS = [
  ["mp4_b_frames", { format: "mp4", width: 320 }, "h264", "aac"],
  ["mp4_b_frames", { format: "webm", width: 160 }, "vp9", "opus"],
  ["webm", { format: "mov", width: 160, start: 0.5, end: 5.3 }, "h264", "aac"],
] as const;

test.for(VIDEOS)("%s as %o in chunks on two workers", async ([name, options, codec, sound]) => {
  const path = await clip(name, { size: "320x180", seconds: 6 });
  const encoded = await encode(path, { kind: "video", options });
  expect(encoded.chunks).toBe(3);
  expect(await readContainer(encoded.path)).toBe(options.format);
  const facts = await readFacts(encoded.path);
  expect(facts).toMatchObject({
    picture: { codec, width: options.width },
    sound: { codec: sound, channels: 2 },
  });
  const [start, end] = "start" in options ? [options.start, options.end] : [0, 6];
  expect(facts.picture?.times).toHaveLength(Math.round((end - start) * 25));
  const like = await measureLikeness(encoded.path, path, {
    filter: `trim=${start}:${end},scale=${options.width}:-2`,
  });
  expect(like.worst).toBeGreaterThan(LIKE);
  // Each chunk tells how far it is while it runs, and all together never go back.
  expect(rises(encoded.told)).toBe(true);
  for (const index of [0, 1]) {
    const shares = encoded.shares.filter((each) => each.index === index).map(({ share }) => share);
    expect(rises(shares)).toBe(true);
    expect(shares.length).toBeGreaterThan(0);
    expect(Math.max(...shares)).toBeLessThanOrEqual(1);
  }
});

const SOUNDS = [
  ["mp3", "mp3"],
  ["aac", "aac"],
  ["ogg", "vorbis"],
  ["opus", "opus"],
  ["wav", "pcm_s16le"],
  ["flac", "flac"],
] as const;

test.for(SOUNDS)("sound as %s", async ([format, codec]) => {
  const encoded = await encode(await clip("mp4", { seconds: 3 }), { kind: "audio", options: { format } });
  const { sound, picture } = await readFacts(encoded.path);
  expect(sound).toMatchObject({ codec, channels: 2 });
  expect(picture ?? null).toBeNull();
  expect(encoded.files).toHaveLength(1);
});

test.for(["jpeg", "png", "webp", "gif"] as const)("a still as %s", async (format) => {
  const path = await clip("png", { size: "640x360" });
  const encoded = await encode(path, { kind: "image", options: { format, width: 320 } });
  expect(await readFacts(encoded.path)).toMatchObject({ picture: { width: 320, height: 180 } });
  const like = await measureLikeness(encoded.path, path, { filter: "scale=320:180" });
  expect(like.mean).toBeGreaterThan(LIKE);
});

test("adaptive video in chunks", async () => {
  const path = await clip("mp4_b_frames", { size: "320x240", seconds: 13 });
  const encoded = await encode(path, { kind: "adaptive_video", options: {} });
  expect(encoded.chunks).toBe(3);
  expect(encoded.main).toBe("master.m3u8");
  const { picture, sound } = await readFacts(encoded.path);
  expect(picture?.times).toHaveLength(13 * 25);
  expect(sound).toMatchObject({ codec: "aac" });
  expect(rises(encoded.told)).toBe(true);
  for (const index of [0, 1]) {
    const shares = encoded.shares.filter((each) => each.index === index).map(({ share }) => share);
    // The second chunk's times go on from the first one's, but its shares begin anew.
    expect(shares[0]).toBeLessThan(0.2);
    expect(rises(shares)).toBe(true);
  }
});

test("a hundred jobs on one pool", { timeout: 300_000 }, async () => {
  const video = await serve(await clip("mp4", { seconds: 1 }));
  const still = await serve(await clip("png"));
  const sizes = await lab.page.evaluate(
    async ([video, still]) => {
      const { encodeInPool, poolWorkers } = await import("../browser/pool.page.ts");
      const kinds: PoolTask[] = [
        { clip: video, kind: "audio", options: { format: "mp3" } },
        { clip: still, kind: "image", options: { format: "jpeg" } },
        { clip: still, kind: "image", options: { format: "webp" } },
        { clip: video, kind: "video", options: { format: "webm", width: 64 } },
        { clip: video, kind: "video", options: { format: "mp4", width: 80 } },
      ];
      const sizes: Record<string, number[]> = {};
      // Each is a probe and an encode.
      for (let run = 0; run < 50; run += 2) {
        const pair = [kinds[run % 5], kinds[(run + 1) % 5]] as PoolTask[];
        const results = await Promise.all(pair.map((task) => encodeInPool(task)));
        for (const [index, { files }] of results.entries()) {
          const format = String((pair[index] as PoolTask).options.format);
          sizes[format] = [...(sizes[format] ?? []), files[0]?.base64.length ?? 0];
        }
      }
      return { sizes, workers: poolWorkers().length };
    },
    [video, still] as const,
  );
  expect(sizes.workers).toBe(2);
  expect(Object.keys(sizes.sizes).sort()).toEqual(["jpeg", "mp3", "mp4", "webm", "webp"]);
  // The same work gives the same file, the first time and the last.
  for (const each of Object.values(sizes.sizes)) expect(new Set(each).size).toBe(1);
});

test("a cancel ends the work at once, and the pool goes on with the next", async () => {
  const url = await serve(await longClip());
  const seen = await lab.page.evaluate(async (url) => {
    const { openClip, openPool } = await import("../browser/pool.page.ts");
    const { createPlan } = await import("../../src/plan/index.ts");
    const { parseFfprobe } = await import("../../src/ffmpeg/parse-ffprobe.ts");
    const pool = openPool({ workers: 2 });
    const input = await openClip(url);
    const report = await pool.probe(input, new AbortController().signal);
    const source = parseFfprobe(report, { url, filesize: input.size });
    const plan = createPlan(source, "video", { width: 480 }, { chunk_seconds: 10 });
    const stop = new AbortController();
    const reason = new Error("not any more");
    const started = Promise.withResolvers<void>();
    const jobs = plan.chunks.map((chunk) => {
      const job = { plan, chunk, source, input, signal: stop.signal, onProgress: () => started.resolve() };
      return pool.encode(job).then(
        () => "done",
        (thrown) => (thrown === reason ? "cancelled" : String(thrown)),
      );
    });
    await Promise.race([started.promise, ...jobs]);
    const at = performance.now();
    stop.abort(reason);
    const ends = await Promise.all(jobs);
    const took = performance.now() - at;
    return { ends, took };
  }, url);
  expect(seen.ends.length).toBeGreaterThan(2);
  expect(new Set(seen.ends)).toEqual(new Set(["cancelled"]));
  expect(seen.took).toBeLessThan(200);
  await expect.poll(() => lab.page.workers().length, { timeout: 1500, interval: 20 }).toBe(0);
  const next = await encode(await clip("png"), { kind: "image", options: { format: "jpeg" } });
  expect(next.files).toHaveLength(1);
  expect(lab.page.workers()).toHaveLength(1);
});

test("a worker that was ended is replaced, and its chunk tried again; a second time it fails", async () => {
  const url = await serve(await longClip());
  const seen = await lab.page.evaluate(async (url) => {
    const { encodeInPool, openPool, poolWorkers } = await import("../browser/pool.page.ts");
    const pool = openPool({ workers: 1, silence_seconds: 2 });
    await pool.load();
    const task = { clip: url, kind: "audio", options: { format: "mp3" }, chunk_seconds: null } as const;
    // What a worker says is kept from the pool as if it hung.
    const hang = (count: number) => {
      let left = count;
      const { postMessage } = Worker.prototype;
      Worker.prototype.postMessage = function (this: Worker, message: unknown, ...rest: never[]) {
        const work = (message as { work?: { kind: string } }).work;
        if (work?.kind === "encode" && left > 0) {
          left--;
          this.terminate();
        }
        postMessage.call(this, message, ...rest);
      } as typeof postMessage;
      return () => {
        Worker.prototype.postMessage = postMessage;
      };
    };
    const tries = async (count: number) => {
      const heal = hang(count);
      try {
        const { files } = await encodeInPool(task);
        return [files.length, poolWorkers().length];
      } catch (thrown) {
        const { kind, retryable, message } = thrown as { kind: string; retryable: boolean; message: string };
        return [kind, retryable, message, poolWorkers().length];
      } finally {
        heal();
      }
    };
    return [await tries(1), await tries(2)];
  }, url);
  expect(seen).toEqual([
    [1, 2],
    ["stalled", true, "The encoder gave no sign of life for 2 seconds.", 3],
  ]);
});

test("what fails for good fails at once, and says why", async () => {
  const cut = join(home, "cut.mp4");
  await writeFile(cut, "not a film at all, whatever its name says");
  const url = await serve(cut);
  const seen = await lab.page.evaluate(async (url) => {
    const { encodeInPool, openPool, poolWorkers } = await import("../browser/pool.page.ts");
    openPool({ workers: 1 });
    const error = await encodeInPool({ clip: url, kind: "video", options: {} }).catch((thrown) => thrown);
    return [error.kind, error.message, poolWorkers().length];
  }, url);
  expect(seen).toEqual(["input_unsupported", "The input is no media that can be read here.", 1]);
});

test("work beyond the memory is refused, and told as such when it happens", async () => {
  const url = await serve(await clip("png", { size: "1280x720" }));
  const seen = await lab.page.evaluate(async (url) => {
    const { encodeInPool, openClip, openPool } = await import("../browser/pool.page.ts");
    const { createPlan } = await import("../../src/plan/index.ts");
    const { parseFfprobe } = await import("../../src/ffmpeg/parse-ffprobe.ts");
    const pool = openPool({ workers: 1 });
    const input = await openClip(url);
    const { signal } = new AbortController();
    const source = parseFfprobe(await pool.probe(input, signal), { url, filesize: input.size });
    const plan = createPlan(source, "image", { format: "gif" });
    const small = openPool({ workers: 1, memory: 40 * 2 ** 20 });
    const [chunk] = plan.chunks;
    if (!chunk) throw new Error("There is nothing to encode.");
    const error = await small.encode({ plan, chunk, source, input, signal }).catch((thrown) => thrown);
    openPool({ workers: 1 });
    const { files } = await encodeInPool({ clip: url, kind: "image", options: { format: "gif" } });
    return {
      roomy: pool.can(plan, source),
      small: small.can(plan, source),
      kind: error.kind,
      files: files.length,
    };
  }, url);
  expect(seen).toEqual({
    roomy: null,
    small: expect.stringMatching(/^it takes about \d+ MB of memory, and 40 MB are there$/),
    kind: "out_of_memory",
    files: 1,
  });
});

test("a file that is changed or removed during the work is told as such", async () => {
  const url = await serve(await longClip());
  const seen = await lab.page.evaluate(async (url) => {
    const { encodeInPool, openClip, openPool } = await import("../browser/pool.page.ts");
    const pool = openPool({ workers: 1 });
    const bytes = (await openClip(url)).blob;
    const folder = await navigator.storage.getDirectory();
    const attempt = async (harm: (handle: FileSystemFileHandle) => Promise<unknown>) => {
      const handle = await folder.getFileHandle("changing.mp4", { create: true });
      const writable = await handle.createWritable();
      await writable.write(bytes);
      await writable.close();
      const blob = await handle.getFile();
      const input = { blob, size: blob.size, read: async () => new Uint8Array() };
      await harm(handle);
      return pool.probe(input, new AbortController().signal).then(
        () => "read",
        ({ kind, retryable }) => [kind, retryable],
      );
    };
    const changed = await attempt(async (handle) => {
      const writable = await handle.createWritable();
      await writable.write("other");
      await writable.close();
    });
    const removed = await attempt(() => folder.removeEntry("changing.mp4"));
    // The pool is as good as before.
    const { files } = await encodeInPool({ clip: url, kind: "audio", options: { format: "wav", end: 1 } });
    return { changed, removed, files: files.length };
  }, url);
  expect(seen).toEqual({
    changed: ["input_unreachable", false],
    removed: ["input_not_found", false],
    files: 1,
  });
});

test("a worker that does not start is told as such", async () => {
  const seen = await lab.page.evaluate(async () => {
    const { sharedCore } = await import("../browser/pool.page.ts");
    const { createWasmPool } = await import("../../src/encoders/wasm-pool.ts");
    let started = 0;
    const pool = createWasmPool({
      workers: 1,
      load: () => sharedCore(),
      createWorker() {
        started++;
        return new Worker("/files/none.js", { type: "module" });
      },
    });
    const blob = new Blob(["some bytes"]);
    const input = { blob, size: blob.size, read: async () => new Uint8Array() };
    const error = await pool.probe(input, new AbortController().signal).catch((thrown) => thrown);
    pool.close();
    return [error.kind, error.retryable, started];
  });
  expect(seen).toEqual(["worker_lost", true, 2]);
  // Chromium names the missing script by itself.
  for (const complaint of lab.complaints.splice(0)) expect(complaint).toMatch(/404/);
});

test("a pool works within a worker, as the product has it", async () => {
  await symlink(await clip("png"), join(home, "still.png"));
  await lab.run("/test/browser/pool-nested.page.ts", "a pool in the media worker", "worker");
});

test("a closed pool ends its jobs and takes no more", async () => {
  const url = await serve(await longClip());
  const seen = await lab.page.evaluate(async (url) => {
    const { encodeInPool, openPool } = await import("../browser/pool.page.ts");
    const pool = openPool({ workers: 2 });
    const kind = (promise: Promise<unknown>) =>
      promise.then(
        () => "done",
        (thrown) => thrown.kind,
      );
    const job = kind(encodeInPool({ clip: url, kind: "video", options: { width: 480 } }));
    await new Promise((resolve) => setTimeout(resolve, 300));
    pool.close();
    const late = kind(encodeInPool({ clip: url, kind: "audio", options: { format: "mp3" } }));
    return [await job, await late];
  }, url);
  expect(seen).toEqual(["worker_lost", "worker_lost"]);
});

function longClip(): Promise<string> {
  return makeClip("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=30"],
    ...["-f", "lavfi", "-i", "sine=frequency=440:duration=30"],
    ..."-c:v libx264 -preset ultrafast -crf 30 -pix_fmt yuv420p -g 50 -c:a aac -shortest".split(" "),
  ]);
}
