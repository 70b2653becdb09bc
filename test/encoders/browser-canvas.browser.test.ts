import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { ImageOptions } from "../../src/media/options.ts";
import type { ImageAnswer } from "../browser/image.page.ts";
import { type Lab, openLab } from "../browser/lab.ts";
import { encode } from "../ffmpeg/native-encode.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { swappedProfile, withProfile } from "../fixtures/profile.ts";
import { quadrantPng } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { readPicture } from "../judge/picture.ts";
import { wrongPoints } from "../judge/quadrants.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probe } from "../probe/probe-file.ts";

let lab: Lab;
let folder: string;
let count = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-canvas-"));
  lab = await openLab({ files: folder });
});
afterAll(async () => {
  await lab?.close();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => expect(lab.complaints.splice(0)).toEqual([]));

async function run(path: string, options: ImageOptions) {
  const name = `${count++}-${basename(path)}`;
  await copyFile(path, join(folder, name));
  const source = await probe(path);
  const answer = await lab.page.evaluate(
    (wish) => {
      const worker = new Worker("/test/browser/image.page.ts", { type: "module" });
      return new Promise<ImageAnswer>((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(`the worker failed: ${message}`));
        worker.postMessage(wish);
      }).finally(() => worker.terminate());
    },
    { plan: createPlan(source, "image", options), source, input: `/files/${name}`, wasm: null },
  );
  const out = join(folder, `${name}.${options.format}`);
  if (answer.file) await writeFile(out, Buffer.from(answer.file.base64, "base64"));
  return { ...answer, path: out };
}

/** Encodes a picture that the encoder must accept. */
async function draw(path: string, options: ImageOptions & { format: "jpeg" | "webp" }) {
  const result = await run(path, options);
  expect([result.refusal, result.error]).toEqual([null, null]);
  const extension = options.format === "jpeg" ? "jpg" : "webp";
  expect(result.file).toMatchObject({ name: `output.${extension}`, mime: `image/${options.format}` });
  return result.path;
}

const RANGE = { output_filter: "scale=out_range=tv:out_color_matrix=bt601" } as const;
const photo = () => makeClip("jpg", [...PHOTO.split(" "), "-q:v", "2"]);
const PHOTO =
  "-f lavfi -i mandelbrot=s=800x600:maxiter=400:start_scale=0.05 -frames:v 1 -pix_fmt yuvj420p -bitexact";

// Native ffmpeg has only 31 steps for the libjpeg quality that a canvas uses.
test.each([
  { format: "webp", quality: "very_low", maxRatio: 1.25 },
  { format: "webp", quality: "very_high", maxRatio: 1.25 },
  { format: "jpeg", quality: "medium", maxRatio: 1.5 },
] as const)(
  "$format of quality $quality, scaled down, matches the native encoder in size and likeness",
  async ({ format, quality, maxRatio }) => {
    const input = await photo();
    const options = { format, quality, width: 320 } as const;
    const path = await draw(input, options);
    const native = await encode(input, "image", options);
    const expected = { ...RANGE, filter: "scale=320:240:flags=bicubic:out_range=tv:out_color_matrix=bt601" };
    const [got, peer] = [
      await measureLikeness(path, input, expected),
      await measureLikeness(native.path, input, expected),
    ];
    expect(Math.abs(got.mean - peer.mean)).toBeLessThan(0.02);
    const bytes = (await readFacts(path)).bytes / (await readFacts(native.path)).bytes;
    expect(bytes).toBeGreaterThan(0.75);
    expect(bytes).toBeLessThan(maxRatio);
  },
);

test.each([
  { width: 120, height: 120, fit: "contain", position: "bottom", background: "#336699" },
  { width: 101, height: 51, fit: "cover", position: "left", background: "#000000" },
] as const)("places a still: $fit $position", async (placed) => {
  const { width, height, fit, position, background } = placed;
  const options = { format: "webp", width, height, fit, position, quality: "very_high" } as const;
  const path = await draw(await quadrantPng(), fit === "contain" ? { ...options, background } : options);
  const picture = await readPicture(path);
  expect([picture.width, picture.height]).toEqual([width, height]);
  expect(wrongPoints(picture, { ...placed, source: { width: 160, height: 96 } }, 20)).toEqual([]);
});

const exif = (orientation: number) =>
  Buffer.from(`ffe1002245786966000049492a0008000000010012010300010000000${orientation}00000000000000`, "hex");

test("rotates a photo once by its EXIF orientation", async () => {
  const bytes = await readFile(await makeClip("jpg", ["-i", await quadrantPng(), "-q:v", "2"]));
  const turned = join(folder, "turned.jpg");
  await writeFile(turned, Buffer.concat([bytes.subarray(0, 2), exif(6), bytes.subarray(2)]));
  const picture = await readPicture(await draw(turned, { format: "jpeg", quality: "high" }));
  const size = { width: 96, height: 160 };
  expect(picture).toMatchObject(size);
  const placing = { ...size, source: picture, turned: 90, fit: "fill", position: "center" } as const;
  expect(wrongPoints(picture, { ...placing, background: "#000000" }, 24)).toEqual([]);
});

test.for([
  { orientation: 6, shown: "transpose=clock" },
  { orientation: 4, shown: "vflip" },
  { orientation: 7, shown: "transpose=clock_flip" },
] as const)(
  "turns, mirrors and cuts a photo after its EXIF orientation $orientation",
  async ({ orientation, shown }) => {
    const bytes = await readFile(await makeClip("jpg", ["-i", await quadrantPng(), "-q:v", "2"]));
    const turned = join(folder, `turned-further-${orientation}.jpg`);
    await writeFile(turned, Buffer.concat([bytes.subarray(0, 2), exif(orientation), bytes.subarray(2)]));
    const options = { format: "jpeg", quality: "high", rotate: 90, flip: "horizontal", crop: "1:1" } as const;
    const path = await draw(turned, { ...options, position: "left" });
    const filter = `${shown},transpose=clock,hflip,crop=96:96:0:(ih-96)/2`;
    const { worst } = await measureLikeness(path, await quadrantPng(), { filter, pixels: "gbrp" });
    expect(worst).toBeGreaterThan(0.85);
  },
);

test("applies the color profile of a photo", async () => {
  const plain = await readFile(
    await makeClip("jpg", "-f lavfi -i color=0x20d020:s=64x48 -frames:v 1 -q:v 2 -bitexact".split(" ")),
  );
  const input = join(folder, "profile.jpg");
  // The profile swaps red and green.
  await writeFile(input, withProfile(plain, swappedProfile()));
  const [red, green] = (await readPicture(await draw(input, { format: "webp" }))).at(32, 24);
  expect(red).toBeGreaterThan(180);
  expect(green).toBeLessThan(80);
});

test("refuses work that it does not support", async () => {
  const refusal = async (path: string, options: ImageOptions) => (await run(path, options)).refusal;
  const png = await clip("png");
  expect(await refusal(png, { format: "png" })).toEqual({ code: "other_work" });
  expect(await refusal(png, { format: "jpeg", quality: "very_high" })).toEqual({
    code: "output_quality",
    format: "jpeg",
  });
  expect(await refusal(await clip("png_alpha"), { format: "webp" })).toEqual({ code: "input_transparent" });
  expect(await refusal(await clip("mp4"), { format: "jpeg" })).toEqual({ code: "animated" });
  expect(await refusal(await clip("avif"), { format: "jpeg" })).toEqual({
    code: "input_format",
    format: "avif",
  });
});
