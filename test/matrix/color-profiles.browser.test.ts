import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  apngWithProfile,
  gifWithProfile,
  grayJpeg,
  jpegInParts,
  PROFILES,
  pngWithCodePoints,
  pngWithDamagedProfile,
  pngWithEndlessText,
  pngWithGamma,
  pngWithPrimaries,
  tableProfile,
  webpInMotion,
  worstPatch,
  writePatches,
} from "../judge/color-profiles.ts";
import { readPicture } from "../judge/picture.ts";
import { remember } from "../judge/remember.ts";
import { type Encode, usePage, useService } from "./hosts.ts";

const LIMIT = { timeout: 240_000 };
// Steps of 255: three of the conversion, and what lossy coding of the input and the output takes.
const TOLERANCE = 6;

const folder = await mkdtemp(join(tmpdir(), "framewright-profiles-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const { ProPhoto, "Display P3": P3, "Adobe RGB": ADOBE, "red and blue exchanged": EXCHANGED } = PROFILES;

const INPUTS = {
  "a JPEG in Display P3": () => writePatches("jpeg", P3),
  "a JPEG in Adobe RGB in several segments": () => jpegInParts(ADOBE),
  "a JPEG with a measured curve": () => writePatches("jpeg", PROFILES["a measured curve"]),
  "a JPEG with a lookup table": () => jpegInParts(tableProfile(), P3, 65_000),
  "a JPEG with a colorimetric lookup table": () => jpegInParts(tableProfile("A2B1"), P3, 65_000),
  "a PNG in ProPhoto": () => writePatches("png", ProPhoto),
  "a PNG with code points": pngWithCodePoints,
  "a PNG with primaries and gamma": pngWithPrimaries,
  "a PNG with a gamma alone": pngWithGamma,
  "a PNG with a damaged profile": pngWithDamagedProfile,
  "a PNG with text of a gigabyte": pngWithEndlessText,
  "a WebP with red and blue exchanged": () => writePatches("webp", EXCHANGED),
  "a lossless WebP in Adobe RGB": () => writePatches("lossless webp", ADOBE),
  "a TIFF in Adobe RGB": () => writePatches("tiff", ADOBE),
  "a GIF with red and blue exchanged": () => gifWithProfile(EXCHANGED),
  "an AVIF with red and blue exchanged": () => writePatches("avif", EXCHANGED),
  "an AVIF in Display P3": () => writePatches("avif", P3),
} as const;
type InputName = keyof typeof INPUTS;
const NAMES = Object.keys(INPUTS) as InputName[];

async function store(name: string, bytes: Buffer): Promise<string> {
  const path = join(folder, `${name.replaceAll(" ", "-")}.picture`);
  await writeFile(path, bytes);
  return path;
}

/** Returns the path of an input, which both hosts read. */
const inputOf = (name: InputName) => remember(["input", name], async () => store(name, await INPUTS[name]()));

async function judge(encode: Encode, name: InputName, formats: readonly string[]) {
  const input = await inputOf(name);
  const encoders: (string | undefined)[] = [];
  for (const format of formats) {
    // Scaled, and at its own size.
    for (const size of format === "png" ? [{}, { width: 100 }] : [{}]) {
      const { path, encoder } = await encode("image", input, { format, quality: "high", ...size });
      expect(await worstPatch(path), `${format} ${JSON.stringify(size)}`).toBeLessThanOrEqual(TOLERANCE);
      encoders.push(encoder);
    }
  }
  return [...new Set(encoders)];
}

async function judgeMotion(encode: Encode) {
  for (const moving of [apngWithProfile, webpInMotion]) {
    const input = await store(`moving ${moving.name}`, await moving(EXCHANGED));
    const still = await encode("image", input, { format: "png", start: 0.4 });
    expect(await worstPatch(still.path), `still of ${moving.name}`).toBeLessThanOrEqual(TOLERANCE);
    const video = await encode("video", input, { format: "mp4", quality: "very_high" });
    expect(await worstPatch(video.path), `video of ${moving.name}`).toBeLessThanOrEqual(TOLERANCE);
  }
}

async function judgeAlpha(encode: Encode) {
  const input = await store("alpha", await writePatches("png", EXCHANGED, 128));
  const { path } = await encode("image", input, { format: "webp", quality: "very_high", width: 100 });
  expect(await worstPatch(path)).toBeLessThanOrEqual(TOLERANCE);
  // Scaling rounds.
  expect(Math.abs((await readPicture(path)).at(20, 20)[3] - 128)).toBeLessThanOrEqual(1);
  // The background is in sRGB.
  const jpeg = await encode("image", input, {
    format: "jpeg",
    quality: "high",
    background: "#ffffff",
    width: 160,
    height: 120,
  });
  const [red, green, blue] = (await readPicture(jpeg.path)).at(40, 30);
  expect(Math.abs(red - 227)).toBeLessThanOrEqual(TOLERANCE);
  expect(Math.abs(green - 157)).toBeLessThanOrEqual(TOLERANCE);
  expect(Math.abs(blue - 152)).toBeLessThanOrEqual(TOLERANCE);
}

async function judgeGray(encode: Encode, format: string) {
  const { jpeg, shown } = await grayJpeg(100, 1.8);
  const { path } = await encode("image", await store("gray", jpeg), { format, quality: "high" });
  const [red, green, blue] = (await readPicture(path)).at(16, 16);
  for (const value of [red, green, blue]) expect(Math.abs(value - shown)).toBeLessThanOrEqual(3);
}

describe("by a service", () => {
  const { encode, rig } = useService();

  // One encoder writes all three formats from the same pixels, so one of them per input is enough.
  const LIGHT = ["webp", "jpeg", "gif"] as const;
  test.concurrent.for(NAMES.map((name, index) => ({ name, lossy: LIGHT[index % LIGHT.length] ?? "webp" })))(
    "converts $name to sRGB",
    LIMIT,
    async ({ name, lossy }) => {
      // No encoder of a service writes transparency in AVIF, which these formats may have.
      const avif = /GIF|lossless WebP/.test(name) ? [] : ["avif"];
      await judge(encode, name, ["png", lossy, ...avif]);
    },
  );
  test.concurrent("converts animations", LIMIT, () => judgeMotion(encode));
  test.concurrent("keeps transparency", LIMIT, () => judgeAlpha(encode));
  test.concurrent("converts gray", LIMIT, () => judgeGray(encode, "png"));

  test("converts pictures of image URLs", LIMIT, async () => {
    for (const name of [
      "a JPEG in Display P3",
      "a JPEG with a lookup table",
      "an AVIF with red and blue exchanged",
    ] as const) {
      const options = { width: 100, format: "webp", quality: "high" };
      const { door, serve } = rig();
      const source = serve(await inputOf(name));
      const { body } = await door.request<{ url: string }>("POST", "/images", { source, options });
      const { path } = await door.fetchFile(body.url);
      expect(await worstPatch(path), name).toBeLessThanOrEqual(TOLERANCE);
    }
  });
});

describe("by a page", () => {
  const { encode } = usePage("profiles");

  test.for(NAMES)("converts %s to sRGB with its core", LIMIT, async (name) => {
    expect(await judge(encode, name, ["png"])).toEqual(["wasm"]);
  });
  test("writes an sRGB palette into a GIF with its core", LIMIT, async () => {
    for (const name of ["a PNG in ProPhoto", "a GIF with red and blue exchanged"] as const)
      expect(await judge(encode, name, ["gif"]), name).toEqual(["wasm"]);
  });
  test("converts with the browser's own decoder", LIMIT, async () => {
    for (const name of [
      "a JPEG in Display P3",
      "a PNG with primaries and gamma",
      "a PNG with a gamma alone",
      "a PNG with a damaged profile",
      "a PNG with code points",
    ] as const)
      expect(await judge(encode, name, ["jpeg"]), name).toEqual(["canvas"]);
    expect(await judge(encode, "a JPEG in Display P3", ["webp"])).toEqual(["canvas"]);
    expect(await judge(encode, "a PNG in ProPhoto", ["avif"])).toEqual(["avif"]);
  });
  test("converts animations", LIMIT, () => judgeMotion(encode));
  test("keeps transparency", LIMIT, () => judgeAlpha(encode));
  test.for(["png", "jpeg"])("converts gray to %s", LIMIT, (format) => judgeGray(encode, format));
});
