import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { longClip, usePool } from "./browser-pool-rig.ts";

const rig = usePool();

const BROKEN = [
  ["trap", 1, "done"],
  ["trap", 2, ["encode_failed", false, "The encoder crashed on this file."]],
  ["hang", 2, ["stalled", true, "The encoder gave no sign of life for 6 seconds."]],
  ["no memory", 1, ["out_of_memory", false, "The browser has no memory left for the encoder."]],
] as const;

test.for(BROKEN)(
  "detects %s in the cores of %i workers and retries once in a fresh worker if it may help",
  async (row) => {
    const [how, workers, first] = row;
    const url = await rig.serve(await clip("mp4"));
    const seen = await rig.lab.page.evaluate(
      async ([url, how, workers]) => {
        const { encodeInPool, openPool, poolWorkers } = await import("../browser/pool.page.ts");
        const pool = openPool({ workers: 1, silenceSeconds: 6, harm: { how, workers } });
        await pool.load();
        const task = { clip: url, kind: "audio", options: { format: "mp3" }, chunk_seconds: null } as const;
        const attempt = () =>
          encodeInPool(task).then(
            () => "done",
            ({ kind, retryable, message }) => [kind, retryable, message],
          );
        const first = await attempt();
        const started = poolWorkers().length;
        return { first, started, next: await attempt() };
      },
      [url, how, workers] as const,
    );
    // A permanent fault is not retried; afterwards the pool works again.
    expect(seen).toEqual({ first, started: how === "no memory" ? 1 : 2, next: "done" });
  },
);

test("a permanent fault fails with a clear error and no retry", async () => {
  const cut = join(rig.home, "cut.mp4");
  await writeFile(cut, "not a film at all, whatever its name says");
  const url = await rig.serve(cut);
  const seen = await rig.lab.page.evaluate(async (url) => {
    const { encodeInPool, openPool, poolWorkers } = await import("../browser/pool.page.ts");
    openPool({ workers: 1 });
    const error = await encodeInPool({ clip: url, kind: "video", options: {} }).catch((thrown) => thrown);
    return [error.kind, error.message, poolWorkers().length];
  }, url);
  expect(seen).toEqual(["input_unsupported", "The input is not media that can be read here.", 1]);
});

test("refuses work beyond the memory, and reports out_of_memory when it is run anyway", async () => {
  const url = await rig.serve(await clip("png", { size: "1280x720" }));
  const seen = await rig.lab.page.evaluate(async (url) => {
    const { encodeInPool, openClip, openPool } = await import("../browser/pool.page.ts");
    const { createPlan } = await import("../../src/media/index.ts");
    const { parseFfprobe } = await import("../../src/media/ffmpeg/ffprobe.ts");
    const pool = openPool({ workers: 1 });
    const input = await openClip(url);
    const { signal } = new AbortController();
    const source = parseFfprobe(await pool.probe(input, signal), { url, filesize: input.size });
    const plan = createPlan(source, "image", { format: "gif" });
    const small = openPool({ workers: 1, memory: 40 * 2 ** 20 });
    const [chunk] = plan.chunks;
    if (!chunk) throw new Error("no chunk");
    const error = await small.encode({ plan, chunk, source, input, signal }).catch((thrown) => thrown);
    openPool({ workers: 1 });
    const { files } = await encodeInPool({ clip: url, kind: "image", options: { format: "gif" } });
    return {
      roomy: pool.refuse(plan, source),
      small: small.refuse(plan, source),
      kind: error.kind,
      files: files.length,
    };
  }, url);
  expect(seen).toEqual({
    roomy: null,
    small: { code: "memory", needed_bytes: expect.any(Number), available_bytes: 40 * 2 ** 20 },
    kind: "out_of_memory",
    files: 1,
  });
});

test("reports a file that is changed or removed during the work", async () => {
  const url = await rig.serve(await longClip());
  const seen = await rig.lab.page.evaluate(async (url) => {
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
    // The pool still works.
    const { files } = await encodeInPool({ clip: url, kind: "audio", options: { format: "wav", end: 1 } });
    return { changed, removed, files: files.length };
  }, url);
  expect(seen).toEqual({
    changed: ["input_unreachable", false],
    removed: ["input_not_found", false],
    files: 1,
  });
});

test("a worker that does not start fails with worker_lost after one retry", async () => {
  const seen = await rig.lab.page.evaluate(async () => {
    const { sharedCore } = await import("../browser/pool.page.ts");
    const { createWasmPool } = await import("../../src/encoders/wasm/wasm-pool.ts");
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
  // Chromium itself logs the missing script.
  for (const complaint of rig.lab.complaints.splice(0)) expect(complaint).toMatch(/404/);
});
