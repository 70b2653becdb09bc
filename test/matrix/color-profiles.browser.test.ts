import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientLab, encodeInPage, openClientLab, openKit } from "../browser/client-rig.ts";
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
import { openRig, type Rig } from "../judge/rig.ts";

type Kind = "image" | "video";
type Encode = (kind: Kind, input: string, options: object) => Promise<{ path: string; encoder?: string }>;

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

async function judge(encode: Encode, name: InputName, formats: readonly string[]) {
  const input = await store(name, await INPUTS[name]());
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
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig?.close());

  const encode: Encode = async (kind, input, options) => {
    const { path, task } = await rig.door.encode({ input: rig.serve(input), kind, options } as Parameters<
      typeof rig.door.encode
    >[0]);
    const encoder = task.steps[2]?.output?.encoder;
    return { path, ...(encoder !== undefined && { encoder }) };
  };

  test.concurrent.for(NAMES)("converts %s to sRGB", LIMIT, async (name) => {
    // No encoder of a service writes transparency in AVIF, which these formats may have.
    const avif = /GIF|lossless WebP/.test(name) ? [] : ["avif"];
    await judge(encode, name, ["png", "webp", "jpeg", "gif", ...avif]);
  });
  test.concurrent("converts animations", LIMIT, () => judgeMotion(encode));
  test.concurrent("keeps transparency", LIMIT, () => judgeAlpha(encode));
  test.concurrent("converts gray", LIMIT, () => judgeGray(encode, "png"));

  test("converts pictures of image URLs", LIMIT, async () => {
    for (const name of [
      "a JPEG in Display P3",
      "a JPEG with a lookup table",
      "an AVIF with red and blue exchanged",
    ] as const) {
      const input = await store(`url ${name}`, await INPUTS[name]());
      const options = { width: 100, format: "webp", quality: "high" };
      const { body } = await rig.door.request<{ url: string }>("POST", "/images", {
        source: rig.serve(input),
        options,
      });
      const { path } = await rig.door.fetchFile(body.url);
      expect(await worstPatch(path), name).toBeLessThanOrEqual(TOLERANCE);
    }
  });
});

describe("by a page", () => {
  let page: ClientLab;
  beforeAll(async () => {
    page = await openClientLab();
    await openKit(page.lab.page, { name: "profiles" });
  });
  afterAll(() => page?.close());

  let outputs = 0;
  const encode: Encode = async (kind, input, options) => {
    const path = join(folder, `page-${outputs++}`);
    const encoder = await encodeInPage(page, { input, kind, options }, path);
    return { path, ...(encoder !== undefined && { encoder }) };
  };

  test.for(NAMES)("converts %s to sRGB with its core", LIMIT, async (name) => {
    expect(await judge(encode, name, ["png", "gif"])).toEqual(["wasm"]);
  });
  test("converts with the browser's own decoder", LIMIT, async () => {
    for (const name of [
      "a JPEG in Display P3",
      "a PNG with primaries and gamma",
      "a PNG with a gamma alone",
      "a PNG with a damaged profile",
      "a PNG with code points",
    ] as const)
      expect(await judge(encode, name, ["jpeg", "webp"]), name).toEqual(["canvas"]);
    expect(await judge(encode, "a PNG in ProPhoto", ["avif"])).toEqual(["avif"]);
  });
  test("converts animations", LIMIT, () => judgeMotion(encode));
  test("keeps transparency", LIMIT, () => judgeAlpha(encode));
  test.for(["png", "jpeg"])("converts gray to %s", LIMIT, (format) => judgeGray(encode, format));
});
