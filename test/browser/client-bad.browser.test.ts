import { readFile, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CDPSession } from "@playwright/test";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { LocalClientOptions } from "../../src/browser/local-client.ts";
import type { NewTask } from "../../src/client/client.ts";
import { clip } from "../fixtures/clips.ts";
import { CLIP_FOLDER, makeClip } from "../fixtures/make-clip.ts";
import { CORE } from "./client-core.ts";
import { type ClientLab, closeKit, openClientLab, spoilWorkers } from "./client-rig.ts";

// Whatever the visitor or the browser does to a page, the error says what to do about it.
let rig: ClientLab;
let long: string;
let session: CDPSession;
beforeAll(async () => {
  rig = await openClientLab();
  // Six chunks of pictures and one of sound on two encoder workers.
  long = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=640x360:rate=25:duration=24".split(" "),
    ..."-f lavfi -i sine=frequency=440:duration=24".split(" "),
    ..."-c:v libx264 -preset ultrafast -crf 30 -g 50 -c:a aac -b:a 64k".split(" "),
  ]);
  await rig.serve(long, "long.mp4");
  await rig.serve(await clip("wav", { seconds: 1 }), "sound.wav");
  session = await rig.lab.context.newCDPSession(rig.lab.page);
});
afterAll(() => rig?.close());
beforeEach(async () => {
  const { page, complaints } = rig.lab;
  complaints.length = 0;
  await page.goto(rig.lab.url);
  return async () => {
    await closeKit(page);
    // Chromium logs every 404.
    expect(complaints.filter((each) => !each.startsWith("Failed to load resource"))).toEqual([]);
  };
});

const open = (options: Omit<LocalClientOptions, "fallback"> & { name: string }) =>
  rig.lab.page.evaluate(async (overrides) => {
    const { openClientKit } = await import("./client.page.ts");
    openClientKit({ encoderWorkers: 2, ...overrides });
  }, options);

/** Runs a task on a file of the lab; returns its error, or the error that rejected the request. */
const errorOf = (path: string, wish: Pick<NewTask, "kind" | "options">) =>
  rig.lab.page.evaluate(
    async ({ path, wish }) => {
      try {
        const input = await kit.file(path);
        const { error } = await kit.client.tasks.wait(
          await kit.client.tasks.create({ ...wish, input } as NewTask),
        );
        if (!error) return null;
        const { step_id: _, ...kept } = error;
        return kept;
      } catch (thrown) {
        const { kind, message, retryable } = thrown as { kind: string; message: string; retryable: boolean };
        return { kind, message, retryable };
      }
    },
    { path, wish },
  );

const MP3 = { kind: "audio", options: { format: "mp3" } } as const;
const MT = { wasm: "/none.wasm", glue: "/none.js", threads: "/none.worker.js" };

test("a task that no encoder here supports fails with every encoder's refusal", async () => {
  await open({ name: "unable", threadedCore: MT });
  const h265 = await errorOf("/files/long.mp4", { kind: "video", options: { codec: "h265" } });
  expect(h265).toEqual({
    ...{ kind: "encoder_unavailable", retryable: false },
    message:
      "No encoder here can do this (copy: the pictures need encoding; avif: it is made for other work; " +
      "canvas: it is made for other work; fast: it is made for other work; wasm: the wasm core has no H.265 encoder; " +
      "wasm-mt: the page is not cross-origin isolated; webcodecs: this browser has no H.265 encoder).",
    refusals: [
      { encoder: "copy", code: "needs_encoding", track: "video" },
      { encoder: "avif", code: "other_work" },
      { encoder: "canvas", code: "other_work" },
      { encoder: "fast", code: "other_work" },
      { encoder: "wasm", code: "output_codec", codec: "h265" },
      { encoder: "wasm-mt", code: "not_isolated" },
      { encoder: "webcodecs", code: "output_codec", codec: "h265" },
    ],
  });
});

/** Starts a long task on a file that the visitor chose from disk; resolves once a chunk is encoded. */
async function startOnDisk(path: string): Promise<string> {
  const { page } = rig.lab;
  await page.evaluate(() => {
    document.body.innerHTML = '<input type="file">';
  });
  await page.setInputFiles("input", path);
  const id = await page.evaluate(async () => {
    const [input] = document.querySelector("input")?.files ?? [];
    if (!input) throw new Error("No file was chosen.");
    const options = { width: 480, bitrate: 400_000 } as const;
    return (await kit.client.tasks.create({ input, kind: "video", options })).id;
  });
  await someChunk();
  return id;
}

const someChunk = () =>
  expect
    .poll(
      async () => (await rig.lab.page.evaluate(() => kit.stored())).some((path) => /\+chunks\//.test(path)),
      {
        timeout: 60_000,
        interval: 20,
      },
    )
    .toBe(true);

/** Waits for a task to end; returns its status, its error and what is still stored. */
const endOf = (id: string) =>
  rig.lab.page.evaluate(async (task) => {
    const { status, error } = await kit.client.tasks.wait(task);
    // The tab clears its files before it releases its lock.
    for (;;) {
      const { held = [] } = await navigator.locks.query();
      if (held.every(({ name }) => !name?.endsWith(task))) break;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return { status, error, stored: await kit.stored() };
  }, id);

const CHANGES: { name: string; change: (path: string) => Promise<void>; error: object }[] = [
  {
    name: "truncated",
    change: (path) => truncate(path, 1000),
    error: { kind: "input_unreachable", message: expect.stringMatching(/changed, moved or removed/) },
  },
  {
    name: "rewritten",
    change: async (path) => {
      await writeFile(path, await readFile(long));
      await utimes(path, new Date(1), new Date(1));
    },
    error: { kind: "input_unreachable", message: expect.stringMatching(/changed, moved or removed/) },
  },
  {
    name: "removed",
    change: unlink,
    error: { kind: "input_not_found", message: "The file no longer exists." },
  },
];

test.for(CHANGES)(
  "a file that is $name mid-encode fails the task and leaves nothing stored",
  async ({ change, error }) => {
    const path = join(tmpdir(), `framewright-changing-${crypto.randomUUID()}.mp4`);
    await writeFile(path, await readFile(long));
    await open({ name: "changing" });
    const id = await startOnDisk(path);
    await change(path);
    const end = await endOf(id);
    await unlink(path).catch(() => {});
    expect(end).toMatchObject({ status: "failed", error: { ...error, retryable: false }, stored: [] });
  },
);

test("a store that fills up mid-encode fails the task with storage_full, and works again once there is room", async () => {
  const { origin } = new URL(rig.lab.url);
  await open({ name: "full" });
  const id = await rig.lab.page.evaluate(async () => {
    const input = await kit.file("/files/long.mp4");
    const options = { width: 480, bitrate: 400_000 } as const;
    return (await kit.client.tasks.create({ input, kind: "video", options })).id;
  });
  await someChunk();
  await session.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: 1 });
  const end = await endOf(id).finally(() => session.send("Storage.overrideQuotaForOrigin", { origin }));
  expect(end).toMatchObject({
    status: "failed",
    error: { kind: "storage_full", message: expect.stringMatching(/delete finished tasks, or free space/) },
    stored: [],
  });
  const read = () => rig.lab.page.evaluate(async (task) => (await kit.client.tasks.get(task)).status, id);
  expect(await read()).toBe("failed");
  expect(await errorOf("/files/sound.wav", MP3)).toBe(null);
});

// The first answer in place of the core, and the error that follows.
const CORES: { state: string; harm: (core: Uint8Array) => Uint8Array; error: object }[] = [
  {
    state: "truncated",
    harm: (core) => core.subarray(0, 100_000),
    error: {
      message: "The encoder core is not the expected file (core.wasm.gz: it is damaged or cut off).",
      retryable: false,
    },
  },
  {
    state: "another file",
    harm: () => new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]),
    error: {
      message:
        "The encoder core is not the expected file (core.wasm.gz: it is cut off at 8 of 32232419 bytes).",
      retryable: false,
    },
  },
  {
    state: "missing",
    harm: () => new Uint8Array(),
    error: { message: "The encoder core could not be loaded (core.wasm.gz: status 404).", retryable: true },
  },
];

test.for(CORES)(
  "a core that is $state fails the task with a clear error; the next task gets the restored core",
  async ({ state, harm, error }) => {
    const core = await readFile(join(CLIP_FOLDER, "core", "ffmpeg-core.wasm.gz"));
    const served = await rig.put("core.wasm.gz", harm(core));
    if (state === "missing") await rig.take("core.wasm.gz");
    const files = { wasm: served, glue: "/files/core/ffmpeg-core.js", fast: null, cache: null };
    await open({ name: "core", core: files });
    const failure = await errorOf("/files/sound.wav", MP3);
    expect(failure).toEqual({ kind: "encoder_unavailable", ...error });
    await rig.put("core.wasm.gz", core);
    expect(await errorOf("/files/sound.wav", MP3)).toBe(null);
  },
);

test("a fast core that cannot be loaded leaves the work to the stock core, and is tried again", async () => {
  const fast = await readFile(join(CLIP_FOLDER, "core", "framewright-core.wasm.gz"));
  const served = await rig.put("fast.wasm.gz", fast.subarray(0, fast.length / 2));
  await open({ name: "fast", core: { ...CORE, fast: served, cache: null } });
  const run = () =>
    rig.lab.page.evaluate(async () => {
      const input = await kit.file("/files/sound.wav");
      const { source } = await kit.client.run({ input, kind: "audio", options: { format: "mp3" } });
      return {
        encoder: source.encoder,
        refusals: source.refusals?.filter(({ encoder }) => encoder === "fast"),
      };
    });
  expect(await run()).toEqual({ encoder: "wasm", refusals: [{ encoder: "fast", code: "not_loaded" }] });
  await rig.put("fast.wasm.gz", fast);
  expect(await run()).toMatchObject({ encoder: fast.length > 0 ? "fast" : "wasm" });
});

test("an SVG fails at once when the module that draws it cannot be loaded, and is drawn once it can", async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>';
  await rig.put("drawing.svg", new TextEncoder().encode(svg));
  await open({ name: "drawing" });
  const { page } = rig.lab;
  const modules = /\/draw-svg\.ts/;
  await page.route(modules, (route) => route.abort());
  const failure = await errorOf("/files/drawing.svg", { kind: "image", options: { format: "png" } });
  expect(failure?.message).toBe("The drawing of SVG could not be loaded.");
  await page.unroute(modules);
  expect(await errorOf("/files/drawing.svg", { kind: "image", options: { format: "png" } })).toBe(null);
});

test("inputs on a private host are allowed only on the page's own, on any port", async () => {
  await open({ name: "hosts", allowPrivate: false });
  const errors = await rig.lab.page.evaluate(async () => {
    const kinds = ["127.0.0.1:9", "192.168.0.1"].map(async (host) => {
      try {
        const task = await kit.client.tasks.create({ input: `http://${host}/a.mp4`, kind: "video" });
        return (await kit.client.tasks.wait(task)).error?.kind;
      } catch (thrown) {
        return (thrown as Error).message;
      }
    });
    return [location.hostname, ...(await Promise.all(kinds))];
  });
  expect(errors).toEqual([
    "127.0.0.1",
    "input_unreachable",
    "input: The host 192.168.0.1 is not public; use a public address.",
  ]);
});

const NO_FILES = "The browser denies this page a file system of its own, as in some private windows.";
const NO_DATABASE = "The browser denies this page a database, as in some private windows.";

test.for([
  { name: "no files", script: "delete StorageManager.prototype.getDirectory", message: NO_FILES },
  {
    name: "no access to files",
    script:
      "StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('No', 'SecurityError'))",
    message: NO_FILES,
  },
  {
    name: "no database",
    script: "delete globalThis.indexedDB; Object.defineProperty(globalThis, 'indexedDB', {})",
    message: NO_DATABASE,
  },
] as const)("every call in a private window with $name says so", async ({ script, message }) => {
  await spoilWorkers(rig.lab.page, script);
  await open({ name: "private" });
  const error = { kind: "service_unavailable", message, retryable: false };
  expect(await errorOf("/files/sound.wav", MP3)).toEqual(error);
  expect(await errorOf("/files/sound.wav", MP3)).toEqual(error);
});

test("rejects tasks when a newer version of the page wrote the database", async () => {
  await rig.lab.page.evaluate(async () => {
    const request = indexedDB.open("newer", 99);
    await new Promise((resolve) => {
      request.onsuccess = resolve;
    });
    request.result.close();
  });
  await open({ name: "newer" });
  expect(await errorOf("/files/sound.wav", MP3)).toEqual({
    kind: "service_unavailable",
    message: "The stored data was written by a newer version of this page; reload the page.",
    retryable: false,
  });
});
