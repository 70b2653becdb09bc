import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Rig as Native, startRig } from "../../container/rig.ts";
import { clip } from "../../fixtures/clips.ts";
import { progressiveJpeg } from "../../fixtures/jpeg.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { clearAvif, tiledPhoto } from "../../fixtures/photos.ts";
import { hugePng, makePng } from "../../inputs/png.ts";
import { readFacts } from "../../judge/facts.ts";
import { measureLikeness } from "../../judge/likeness.ts";
import { clearErrors } from "../../judge/photos.ts";
import { colorDistance, readPicture } from "../../judge/picture.ts";
import { createRig } from "../engine/rig.ts";

const TOKEN = "a-token-of-the-encoder";

let native: Native;
let origin: Origin;
let proxy: { url: string; pictures: () => number; server: Server };
let rig: ReturnType<typeof createRig>;
let base: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-pictures-"));
  [native, origin] = await Promise.all([
    startRig({ PLACES: "1", NATIVE_ENCODER_TOKEN: TOKEN }),
    startOrigin(),
  ]);
  proxy = await startCountingProxy(native.url);
  rig = createRig({
    IMAGE_ORIGINS: origin.url,
    NATIVE_ENCODER_URL: proxy.url,
    NATIVE_ENCODER_TOKEN: TOKEN,
  });
  base = (await rig.server.listen()).url.origin;
});
afterAll(async () => {
  await rig.server.close();
  await Promise.all([native.close(), origin.close()]);
  proxy.server.close();
  await rm(folder, { recursive: true, force: true });
});

// Forwards requests to the encoder and counts pictures.
async function startCountingProxy(to: string): Promise<typeof proxy> {
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    if (incoming.url?.startsWith("/pictures")) count++;
    const { method, headers } = incoming;
    const forwarded = request(to + incoming.url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, pictures: () => count, server };
}

async function get(options: string, source: string) {
  const response = await fetch(`${base}/image/${options}/${encodeURIComponent(source)}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}

async function refusal(options: string, source: string) {
  const { status, headers, bytes } = await get(options, source);
  expect(headers.get("Cache-Control")).toBe("no-store");
  const { kind, message } = JSON.parse(new TextDecoder().decode(bytes));
  return { status, kind, message, retry: headers.get("Retry-After") };
}

async function saved(name: string, bytes: Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, bytes);
  return path;
}

const served = async (path: string | Promise<string>) => {
  const file = await path;
  return origin.serve(`/${file.split("/").at(-1)}`, { file });
};

test("makes a JPEG of a turned HEIC on the native encoder, once for all that ask at the same time", async () => {
  const { path, png, shown } = await tiledPhoto({ quarters: 1 });
  const source = await served(path);
  const answers = await Promise.all(Array.from({ length: 6 }, () => get("q=95,f=jpeg", source)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(new Set(answers.map(({ headers }) => headers.get("ETag"))).size).toBe(1);
  const [first] = answers;
  expect(first?.headers.get("Content-Type")).toBe("image/jpeg");
  const jpeg = await saved("heic.jpg", first?.bytes ?? new Uint8Array());
  expect(await readFacts(jpeg)).toMatchObject({ picture: { width: 96, height: 160, codec: "mjpeg" } });
  expect((await measureLikeness(jpeg, png, { filter: shown })).mean).toBeGreaterThan(0.9);
  expect(proxy.pictures()).toBe(1);
  expect((await get("q=95,f=jpeg", source)).headers.get("Cache-Status")).toContain("hit");
  expect(proxy.pictures()).toBe(1);
});

test("keeps the transparency of an AVIF, and writes AVIF", async () => {
  const png = await get("f=png", await served(clearAvif()));
  expect(await clearErrors(await saved("clear.png", png.bytes))).toBeLessThan(12);
  const photo = await clip("jpeg", { size: "320x240" });
  const avif = await get("w=160,f=avif,q=80", await served(photo));
  expect(avif.headers.get("Content-Type")).toBe("image/avif");
  const path = await saved("small.avif", avif.bytes);
  expect(await readFacts(path)).toMatchObject({ picture: { width: 160, height: 120, codec: "av1" } });
  expect((await measureLikeness(path, photo, { filter: "scale=160:120" })).mean).toBeGreaterThan(0.93);
});

test("makes a small picture of a PNG that is too large for the memory of a Worker", async () => {
  const file = await clip("png", { size: "4800x3600" });
  const before = proxy.pictures();
  const { status, bytes } = await get("w=160,f=png", await served(file));
  expect(status).toBe(200);
  const path = await saved("large.png", bytes);
  expect(await readFacts(path)).toMatchObject({ picture: { width: 160, height: 120 } });
  expect((await measureLikeness(path, file, { filter: "scale=160:120" })).mean).toBeGreaterThan(0.97);
  // A small one is still made by the light encoder.
  expect((await get("w=80,f=png", await served(clip("png", { size: "320x240" })))).status).toBe(200);
  expect(proxy.pictures() - before).toBe(1);
});

test("sends a progressive JPEG away, of which even a small picture takes too much memory", async () => {
  const before = proxy.pictures();
  const { status, bytes } = await get(
    "w=160,f=png",
    origin.serve("/p.jpg", { file: progressiveJpeg(6400, 4800) }),
  );
  expect([status, proxy.pictures() - before]).toEqual([200, 1]);
  const path = await saved("progressive.png", bytes);
  expect(await readFacts(path)).toMatchObject({ picture: { width: 160, height: 120 } });
  expect(colorDistance((await readPicture(path)).at(80, 60), [128, 128, 128, 255])).toBeLessThan(3);
});

// Ramps of red and green with incompressible noise.
function noisyPng(width: number, height: number): Buffer {
  const rows = randomBytes((1 + 3 * width) * height);
  for (let y = 0, at = 0; y < height; y++) {
    rows[at++] = 0;
    for (let x = 0; x < width; x++, at += 3) {
      rows[at] = ((rows[at] ?? 0) & 127) + Math.floor((128 * x) / width);
      rows[at + 1] = ((rows[at + 1] ?? 0) & 127) + Math.floor((128 * y) / height);
      rows[at + 2] = (rows[at + 2] ?? 0) & 127;
    }
  }
  return makePng({ width, height, bits: 8, type: 2 }, rows, {}, 1);
}

test("makes a picture of a source of more bytes than a Worker holds, and leaves none of them behind", async () => {
  const png = noisyPng(4400, 3600);
  expect(png.length).toBeGreaterThan(40_000_000);
  const path = await saved("noisy.png", png);
  const before = proxy.pictures();
  const urls = [
    origin.serve("/noisy.png", { file: path, ranges: false }),
    origin.serve("/noisy-chunked.png", { file: path, chunked: true }),
  ];
  for (const [index, url] of urls.entries()) {
    const { status, bytes } = await get("w=220,f=png", url);
    expect([status, status === 200 || new TextDecoder().decode(bytes)]).toEqual([200, true]);
    const small = await saved(`noisy-${index}.png`, bytes);
    expect(await readFacts(small)).toMatchObject({ picture: { width: 220, height: 180 } });
    expect((await measureLikeness(small, path, { filter: "scale=220:180" })).mean).toBeGreaterThan(0.95);
  }
  // One of unknown size that turns out to fit is still made by the light encoder.
  const fits = noisyPng(1100, 900);
  expect(fits.length).toBeGreaterThan(2_200_000);
  const { status } = await get("w=220,f=png", origin.serve("/fits.png", { file: fits, chunked: true }));
  expect([status, proxy.pictures() - before]).toEqual([200, 2]);
  // A source that is not a picture, and one that breaks off.
  const none = origin.serve("/none", { file: new Uint8Array(34_000_000) });
  expect(await refusal("w=80", none)).toMatchObject({ status: 415, kind: "input_unsupported" });
  const broken = origin.serve("/broken", { file: path, ranges: false, cut_after: 36_000_000 });
  expect(await refusal("w=80", broken)).toMatchObject({ status: 502, kind: "input_unreachable" });
  const keys = (await (await rig.worker().getEnv()).MEDIA.list({ prefix: "images/" })).objects.map(
    ({ key }) => key,
  );
  expect(keys.filter((key) => key.endsWith("/source"))).toEqual([]);
  const over = origin.serve("/over.png", { file: new Uint8Array(16), declared: 257 * 1024 * 1024 });
  expect(await refusal("w=80", over)).toMatchObject({ status: 413, kind: "input_too_large" });
});

test("many small pictures are sent at once, for the encoder to make in turn", async () => {
  const before = proxy.pictures();
  const source = await served(clearAvif());
  const sizes = [11, 12, 13, 14, 15, 16];
  // On a busy machine the encoder may take longer than any of them waits for a place.
  const ask = async (width: number) => {
    for (;;) {
      const answer = await get(`w=${width},f=png`, source);
      if (answer.status !== 503) return answer.status;
    }
  };
  expect(await Promise.all(sizes.map(ask))).toEqual(sizes.map(() => 200));
  expect(proxy.pictures() - before).toBeGreaterThanOrEqual(sizes.length);
});

test("refuses what is too large for both, with both reasons, and what is damaged", async () => {
  const huge = await refusal("w=80", origin.serve("/huge.png", { file: hugePng(14_000) }));
  expect(huge).toMatchObject({ status: 422, kind: "encoder_unavailable" });
  expect(huge.message).toMatch(/light: .*memory.*native: .*memory/);
  const avif = await readFile(await clearAvif());
  const cut = origin.serve("/cut.avif", { file: avif.subarray(0, avif.length - 100) });
  expect(await refusal("w=80,f=png", cut)).toMatchObject({ status: 415, kind: "input_unsupported" });
  expect(await native.left()).toEqual([]);
});

test("answers 503 with Retry-After within seconds while the encoder is busy, and takes up again", async () => {
  const source = await served(await clip("jpeg", { size: "320x240" }));
  const busy = await Promise.all(
    ["video", "audio"].map(async (kind) =>
      native.job(await clip("mp4"), kind as "video", {}, (answer) => ({ ...answer, silent: true })),
    ),
  );
  for (const job of busy) expect((await native.call("POST", "/jobs", job)).status).toBe(202);
  expect(await refusal("w=90,f=avif", source)).toMatchObject({
    status: 503,
    kind: "service_unavailable",
    retry: "5",
    message: expect.stringContaining("busy"),
  });
  // The light encoder is not affected.
  expect((await get("w=90,f=webp", source)).status).toBe(200);
  for (const { id } of busy) await native.call("DELETE", `/jobs/${id}`);
  expect((await get("w=90,f=avif", source)).status).toBe(200);
});

test("answers 503 while no encoder can be reached", async () => {
  const source = await served(await clip("jpeg", { size: "320x240" }));
  proxy.server.closeAllConnections();
  await new Promise((resolve) => proxy.server.close(resolve));
  expect(await refusal("w=70,f=avif", source)).toMatchObject({
    status: 503,
    kind: "worker_lost",
    retry: "5",
  });
});
