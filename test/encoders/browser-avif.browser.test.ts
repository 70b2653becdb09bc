import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ImageOptions } from "../../src/media/options.ts";
import type { ImageAnswer, ImageWish } from "../browser/image.page.ts";
import { type Lab, openLab } from "../browser/lab.ts";
import { encode } from "../ffmpeg/native-encode.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { INTEGRITY_SOURCES } from "../integrity/sources.ts";
import { markedClip, quadrantClip, quadrantPng } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { readPicture } from "../judge/picture.ts";
import { wrongPoints } from "../judge/quadrants.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probe } from "../probe/probe-file.ts";

const WASM = "/node_modules/@jsquash/avif/codec/enc/avif_enc.wasm";

let lab: Lab;
let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-avif-"));
  lab = await openLab({ files: folder });
});
afterAll(async () => {
  await lab?.close();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => expect(lab.complaints.splice(0)).toEqual([]));

async function run(path: string, options: ImageOptions, more: Partial<ImageWish> = {}) {
  const name = `${count++}-${basename(path)}`;
  await copyFile(path, join(folder, name));
  const source = await probe(path);
  const plan = createPlan(source, "image", { format: "avif", ...options });
  const answer = await lab.page.evaluate(
    (wish) => {
      const worker = new Worker("/test/browser/image.page.ts", { type: "module" });
      return new Promise<ImageAnswer>((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(`the worker failed: ${message}`));
        worker.postMessage(wish);
      }).finally(() => worker.terminate());
    },
    { plan, source, input: `/files/${name}`, wasm: WASM, ...more },
  );
  const out = join(folder, `${name}.avif`);
  if (answer.file) await writeFile(out, Buffer.from(answer.file.base64, "base64"));
  return { ...answer, path: out };
}

/** Encodes a picture that the encoder must accept. */
async function avif(path: string, options: ImageOptions) {
  const result = await run(path, options);
  expect([result.refusal, result.error]).toEqual([null, null]);
  expect(result.file).toMatchObject({ name: "output.avif", mime: "image/avif" });
  return result;
}

// The source has full range, the output limited range.
const TO = "out_range=tv:out_color_matrix=bt601";
const RANGE = { filter: `scale=${TO}`, output_filter: `scale=${TO}` } as const;
const photo = () =>
  makeClip("png", [
    ..."-f lavfi -i mandelbrot=s=400x300:maxiter=400:start_scale=0.05 -frames:v 1 -pix_fmt rgb24 -bitexact".split(
      " ",
    ),
  ]);

test.each(["very_low", "medium", "very_high"] as const)(
  "size and likeness at %s match the native encoder",
  async (quality) => {
    const input = await photo();
    const options = { quality } as const;
    const ours = await avif(input, options);
    const native = await encode(input, "image", { format: "avif", ...options });
    const [got, expected] = [
      await measureLikeness(ours.path, input, RANGE),
      await measureLikeness(native.path, input, RANGE),
    ];
    const [bytes, peer] = [(await readFacts(ours.path)).bytes, (await readFacts(native.path)).bytes];
    expect(Math.abs(got.mean - expected.mean)).toBeLessThan(0.02);
    expect(bytes / peer).toBeGreaterThan(0.75);
    expect(bytes / peer).toBeLessThan(1.25);
  },
);

test.each([
  { width: 120, height: 120, fit: "contain", position: "bottom", background: "#336699" },
  { width: 120, height: 120, fit: "cover", position: "left", background: "#000000" },
  { width: 101, height: 51, fit: "fill", position: "center", background: "#000000" },
] as const)("places a still: $fit $position", async (placed) => {
  const { width, height, fit, position, background } = placed;
  const options = { width, height, fit, position, quality: "very_high" } as const;
  const { path } = await avif(await quadrantPng(), fit === "contain" ? { ...options, background } : options);
  const picture = await readPicture(path);
  expect([picture.width, picture.height]).toEqual([width, height]);
  expect(wrongPoints(picture, { ...placed, source: { width: 160, height: 96 } }, 20)).toEqual([]);
});

test("scales a picture down like the native encoder's filter", async () => {
  const input = await photo();
  const { path } = await avif(input, { quality: "very_high", width: 152 });
  const { mean } = await measureLikeness(path, input, {
    ...RANGE,
    filter: `scale=152:114:flags=bicubic:${TO}`,
  });
  expect(mean).toBeGreaterThan(0.97);
});

test("rotates a photo once by its EXIF orientation", async () => {
  const jpeg = await makeClip("jpg", ["-i", await quadrantPng(), "-q:v", "2"]);
  const turned = join(folder, "turned.jpg");
  const bytes = await readFile(jpeg);
  // EXIF orientation 6: 90 degrees clockwise.
  const exif = Buffer.from(
    "ffe1002245786966000049492a00080000000100120103000100000006000000" + "00000000",
    "hex",
  );
  await writeFile(turned, Buffer.concat([bytes.subarray(0, 2), exif, bytes.subarray(2)]));
  const { path } = await avif(turned, { quality: "very_high" });
  const picture = await readPicture(path);
  expect([picture.width, picture.height]).toEqual([96, 160]);
  const placing = {
    source: picture,
    turned: 90,
    width: 96,
    height: 160,
    fit: "fill",
    position: "center",
  } as const;
  expect(wrongPoints(picture, { ...placing, background: "#000000" }, 24)).toEqual([]);
});

test("takes the frame of a video shown at a start, and rotates it", async () => {
  const input = await markedClip("h264", 2);
  const { path } = await avif(input, { start: 1.01, quality: "very_high" });
  const right = await measureLikeness(path, input, { filter: "select=eq(n\\,25)" });
  const wrong = await measureLikeness(path, input, { filter: "select=eq(n\\,27)" });
  expect(right.mean).toBeGreaterThan(0.97);
  expect(right.mean).toBeGreaterThan(wrong.mean + 0.02);
  const upright = await readPicture((await avif(await quadrantClip(90), { quality: "very_high" })).path);
  expect([upright.width, upright.height]).toEqual([96, 160]);
});

test("takes the frame shown at a start from VP8 with hidden pictures", async () => {
  const input = await INTEGRITY_SOURCES.vp8_hidden.make("webm");
  const { path } = await avif(input, { start: 8, quality: "very_high" });
  // The video starts 7 ms late.
  expect((await readFrames(path)).map(({ number }) => number)).toEqual([199]);
});

test("keeps transparency", async () => {
  const input = await clip("png_alpha");
  const { path } = await avif(input, { quality: "very_high" });
  const alpha = await lab.page.evaluate(
    async (url) => {
      const bitmap = await createImageBitmap(await (await fetch(url)).blob());
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      context?.drawImage(bitmap, 0, 0);
      const at = (x: number) => context?.getImageData(x, 45, 1, 1).data[3] ?? -1;
      return [at(1), at(80), at(158)];
    },
    `/files/${basename(path)}`,
  );
  for (const [index, expected] of [2, 128, 253].entries()) {
    expect(Math.abs((alpha[index] ?? -1) - expected)).toBeLessThan(8);
  }
});

test("missing wasm fails with a clear error", async () => {
  const { error } = await run(await clip("png"), {}, { wasm: "/files/none.wasm" });
  expect(error).toEqual({ kind: "encoder_unavailable", message: "The AVIF encoder could not be loaded." });
});

test.each(["before", "reading"] as const)(
  "an abort (%s) ends the work before the picture is encoded",
  async (abort) => {
    const input = await clip("png");
    const { error, file, encodes } = await run(input, {}, { abort });
    expect([error?.message, file, encodes]).toEqual(["the test has enough", null, 0]);
    expect((await run(input, {})).encodes).toBe(1);
  },
);

test("refuses work that it does not support", async () => {
  expect((await run(await clip("png"), { format: "webp" })).refusal).toEqual({ code: "other_work" });
  expect((await run(await clip("mp4_hdr"), {})).refusal).toEqual({ code: "tone_mapping" });
  expect((await run(await clip("mp4_interlaced"), {})).refusal).toEqual({ code: "deinterlacing" });
  expect((await run(await clip("mp4_h265"), {})).refusal).toEqual({ code: "input_codec", codec: "h265" });
});
