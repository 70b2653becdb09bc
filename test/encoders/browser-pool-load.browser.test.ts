import { createReadStream } from "node:fs";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CORE_FILES } from "../../src/encoders/wasm/core-facts.ts";
import { buildCore } from "../../worker/local/build/build-core.ts";
import { type Lab, openLab } from "../browser/lab.ts";
import { CLIP_FOLDER } from "../fixtures/make-clip.ts";

const PACKED = "/files/core/ffmpeg-core.wasm.gz";
const GLUE = "/files/core/ffmpeg-core.js";
const TOTAL = CORE_FILES.wasm.size + CORE_FILES.glue.size;

let lab: Lab;
let home: string;
let server: Server;
let origin: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "framewright-load-"));
  const core = join(CLIP_FOLDER, "core");
  await buildCore(core);
  await symlink(core, join(home, "core"));
  const stock = join(dirname(createRequire(import.meta.url).resolve("@ffmpeg/core")), "..", "esm");
  await symlink(join(stock, "ffmpeg-core.wasm"), join(home, "plain.wasm"));
  const packed = await readFile(join(core, "ffmpeg-core.wasm.gz"));
  await writeFile(join(home, "cut.wasm.gz"), packed.subarray(0, packed.length / 2));
  const plain = await readFile(join(home, "plain.wasm"));
  await writeFile(join(home, "cut.wasm"), plain.subarray(0, 1_000_000));
  await writeFile(join(home, "long.wasm"), Buffer.concat([plain, Buffer.of(0)]));
  await writeFile(join(home, "altered.wasm"), plain.with(20_000_000, (plain[20_000_000] ?? 0) ^ 1));
  await writeFile(join(home, "altered.js"), (await readFile(join(core, "ffmpeg-core.js"))).with(10, 32));
  await writeFile(join(home, "page.wasm"), "<!doctype html><title>Not found</title>");
  // Another origin with CORS that compresses, breaks off or stalls, depending on the path.
  server = createServer((request, response) => {
    response.setHeader("Access-Control-Allow-Origin", "*");
    if (request.url === "/encoded") {
      response.writeHead(200, { "Content-Encoding": "gzip", "Content-Type": "application/wasm" });
      return void createReadStream(join(core, "ffmpeg-core.wasm.gz")).pipe(response);
    }
    response.writeHead(200, { "Content-Length": packed.length });
    response.write(packed.subarray(0, 100_000), () => {
      if (request.url?.startsWith("/break")) setTimeout(() => response.destroy(), 200);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  lab = await openLab({ files: home });
});
afterAll(async () => {
  await lab?.close();
  server?.close();
  server?.closeAllConnections();
  await rm(home, { recursive: true, force: true });
});

/** Loads the core in the page; returns its progress events and any error. */
function load(options: { wasm?: string; glue?: string; cache?: string | null; stallSeconds?: number }) {
  return lab.page.evaluate(
    async (options) => {
      const { loadCore } = await import("../../src/encoders/wasm/load-core.ts");
      const events: { loaded: number; total: number }[] = [];
      const started = performance.now();
      try {
        const { module, glue } = await loadCore({
          ...options,
          onProgress: (progress) => events.push(progress),
        });
        const imports = WebAssembly.Module.imports(module).length;
        return { events, imports, glue: glue.size, took: performance.now() - started, error: null };
      } catch (thrown) {
        const { kind, message, retryable } = thrown as { kind: string; message: string; retryable: boolean };
        return { events, took: performance.now() - started, error: { kind, message, retryable } };
      }
    },
    { wasm: PACKED, glue: GLUE, cache: null, ...options },
  );
}

test.for([
  ["compressed", PACKED],
  ["uncompressed", "/files/plain.wasm"],
  ["compressed by the server", "/encoded"],
])("loads the core %s, with rising progress up to the total", async ([, url = ""]) => {
  const { events, error, ...core } = await load({ wasm: url.startsWith("/files") ? url : origin + url });
  expect(error).toBeNull();
  expect(core).toMatchObject({ glue: CORE_FILES.glue.size, imports: expect.any(Number) });
  expect(events.length).toBeGreaterThan(10);
  expect(events.at(-1)).toEqual({ loaded: TOTAL, total: TOTAL });
  for (const [index, { loaded }] of events.entries()) {
    expect(loaded).toBeGreaterThan(events[index - 1]?.loaded ?? 0);
  }
  expect(lab.complaints.splice(0)).toEqual([]);
});

const WRONG = [
  {
    name: "cut off and compressed",
    options: { wasm: "/files/cut.wasm.gz" },
    why: "cut.wasm.gz: it is damaged or cut off",
  },
  {
    name: "cut off",
    options: { wasm: "/files/cut.wasm" },
    why: "cut.wasm: it is cut off at 1000000 of 32232419 bytes",
  },
  { name: "too long", options: { wasm: "/files/long.wasm" }, why: "long.wasm: it is too long" },
  { name: "altered", options: { wasm: "/files/altered.wasm" }, why: "altered.wasm: its contents differ" },
  {
    name: "an HTML page",
    options: { wasm: "/files/page.wasm" },
    why: "page.wasm: it is cut off at 39 of 32232419 bytes",
  },
  {
    name: "paired with altered glue",
    options: { glue: "/files/altered.js" },
    why: "altered.js: its contents differ",
  },
] as const;

test.for(WRONG)("rejects a core that is $name", async ({ options, why }) => {
  const { error } = await load(options);
  const message = `The encoder core is not the expected file (${why}).`;
  expect(error).toEqual({ kind: "encoder_unavailable", message, retryable: false });
});

test("an unreachable core fails with a retryable error that hides the URL's secrets", async () => {
  const missing = await load({ wasm: "/files/none.wasm?token=secret" });
  const refused = await load({ wasm: "http://127.0.0.1:1/core.wasm#secret" });
  const broken = await load({ wasm: `${origin}/break.wasm?secret` });
  const stuck = await load({ wasm: `${origin}/stuck.wasm`, stallSeconds: 0.5 });
  const why = [
    [missing, "none.wasm: status 404"],
    [refused, "core.wasm: no answer"],
    [broken, "break.wasm: the connection broke"],
    [stuck, "stuck.wasm: the download stalled"],
  ] as const;
  for (const [{ error, took }, text] of why) {
    const message = `The encoder core could not be loaded (${text}).`;
    expect(error).toEqual({ kind: "encoder_unavailable", message, retryable: true });
    expect(took).toBeLessThan(5000);
  }
  // Chromium itself logs failed requests.
  for (const complaint of lab.complaints.splice(0)) expect(complaint).toMatch(/^Failed to load resource/);
});

test("loads the core from the cache on the second visit and replaces a damaged copy", async () => {
  const url = "/files/kept.wasm.gz";
  await symlink(join(CLIP_FOLDER, "core", "ffmpeg-core.wasm.gz"), join(home, "kept.wasm.gz"));
  expect((await load({ wasm: url, cache: "kept" })).error).toBeNull();
  const cachedBytes = () =>
    lab.page.evaluate(async (url) => {
      const cached = await (await caches.open("kept")).match(url);
      return (await cached?.arrayBuffer())?.byteLength ?? 0;
    }, url);
  // The cache keeps it uncompressed.
  const { size } = CORE_FILES.wasm;
  await expect.poll(cachedBytes).toBe(size);

  await lab.page.evaluate(async (url) => {
    await (await caches.open("kept")).put(url, new Response("damaged"));
  }, url);
  expect((await load({ wasm: url, cache: "kept" })).error).toBeNull();
  await expect.poll(cachedBytes).toBe(size);

  await rm(join(home, "kept.wasm.gz"));
  const { error, events } = await load({ wasm: url, cache: "kept" });
  expect(error).toBeNull();
  expect(events.at(-1)?.loaded).toBe(TOTAL);
  expect(lab.complaints.splice(0)).toEqual([]);
});

test("an aborted load rejects with the caller's reason", async () => {
  const seen = await lab.page.evaluate(async (wasm) => {
    const { loadCore } = await import("../../src/encoders/wasm/load-core.ts");
    const stop = new AbortController();
    const load = loadCore({ wasm, glue: "/files/core/ffmpeg-core.js", cache: null, signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 300);
    return load.then(
      () => "loaded",
      (thrown) => thrown.message,
    );
  }, `${origin}/stuck.wasm`);
  expect(seen).toBe("enough");
});
