import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { dropped } from "../../src/media/dropped.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import { readTransparency } from "../../src/probe/transparency.ts";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { movingWebp } from "../fixtures/moving-webp.ts";
import { PROFILES, writePatches } from "../judge/color-profiles.ts";
import { bytesReader, probeFile } from "./probe-file.ts";

const COLORS: ReadonlySet<string> = new Set(["bit_depth", "hdr", "alpha"]);

async function lost(path: string, kind: EncodeKind, options: object): Promise<string[]> {
  const { source } = await probeFile(path);
  return dropped(kind, options, source)
    .filter((entry) => COLORS.has(entry.kind))
    .map((entry) => `${entry.kind} ${entry.reason}`);
}

const still = (extension: string, pixels: string) =>
  makeClip(extension, [
    ...["-f", "lavfi", "-i", `testsrc2=s=64x48:d=1,format=${pixels}`, "-frames:v", "1", "-pix_fmt", pixels],
  ]);

test.for([
  ["png", "rgb48be", "jpeg", ["bit_depth no_place_in_format"]],
  ["png", "rgb48be", "webp", ["bit_depth no_place_in_format"]],
  ["png", "rgb48be", "avif", ["bit_depth not_supported"]],
  ["png", "gray16be", "png", ["bit_depth not_supported"]],
  ["tiff", "rgb48le", "jpeg", ["bit_depth no_place_in_format"]],
  ["png", "rgb24", "jpeg", []],
  ["tiff", "gray", "jpeg", []],
  ["png", "pal8", "jpeg", []],
] as const)("a %s of %s to %s loses %j", async ([extension, pixels, format, expected]) => {
  expect(await lost(await still(extension, pixels), "image", { format })).toEqual(expected);
});

const video = (pixels: string, more: readonly string[] = []) =>
  makeClip("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=s=64x48:d=0.4", "-c:v", "libx265", "-pix_fmt", pixels, ...more],
    ...["-x265-params", "log-level=error", "-tag:v", "hvc1"],
  ]);
const PQ = "-color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc".split(" ");

test.for([
  ["yuv420p10le", [], { codec: "h264", width: 32 }, ["bit_depth no_place_in_format"]],
  ["yuv420p10le", [], { codec: "h265", width: 32 }, ["bit_depth not_supported"]],
  ["yuv420p", [], { codec: "h264", width: 32 }, []],
  ["yuv420p10le", PQ, { codec: "h265", width: 32 }, []],
  [
    "yuv420p10le",
    PQ,
    { codec: "h264", width: 32 },
    ["bit_depth no_place_in_format", "hdr no_place_in_format"],
  ],
  ["yuv420p10le", PQ, { mode: "copy" }, []],
] as const)("video of %s %j with %j loses %j", async ([pixels, more, options, expected]) => {
  expect(await lost(await video(pixels, more), "video", options)).toEqual(expected);
});

const gif = (source: string, ...more: string[]) =>
  makeClip("gif", [
    "-f",
    "lavfi",
    "-i",
    source,
    "-lavfi",
    "split[a][b];[a]palettegen[p];[b][p]paletteuse",
    ...more,
  ]);
const holes = "color=red:s=64x48:d=0.4:r=5,format=rgba,geq=r=200:g=30:b=30:a='255*gte(X,32)'";

test.for([
  ["an opaque GIF", () => gif("testsrc2=s=64x48:d=1:r=5"), []],
  [
    "an opaque GIF of whole pictures",
    () => gif("testsrc2=s=64x48:d=1:r=5", "-gifflags", "-offsetting-transdiff"),
    [],
  ],
  ["a GIF with holes", () => gif(holes), ["alpha no_place_in_format"]],
] as const)("%s to MP4 loses as many colors as it has", async ([, make, expected]) => {
  expect(await lost(await make(), "video", {})).toEqual(expected);
});

test("a PNG palette with transparent entries counts as transparency", async () => {
  const path = await makeClip("png", [
    ...[
      "-f",
      "lavfi",
      "-i",
      holes,
      "-lavfi",
      "split[a][b];[a]palettegen[p];[b][p]paletteuse",
      "-frames:v",
      "1",
    ],
  ]);
  expect(await lost(path, "image", { format: "jpeg" })).toEqual(["alpha no_place_in_format"]);
});

const lossless = (...args: string[]) =>
  makeClip("webp", [
    ...["-f", "lavfi", "-i", "testsrc2=s=64x48:d=1", "-frames:v", "1", ...args],
    ...["-c:v", "libwebp", "-lossless", "1", "-pix_fmt", "bgra"],
  ]);
const profiled = (alpha: number) =>
  keepClip("webp", `lossless webp in Adobe RGB ${alpha}`, async (path) =>
    writeFile(path, await writePatches("lossless webp", PROFILES["Adobe RGB"], alpha)),
  );
const clear = ["-vf", "format=rgba,colorchannelmixer=aa=0.5"];

test.for([
  ["an opaque lossless WebP", () => lossless(), []],
  ["a lossless WebP with transparency", () => lossless(...clear), ["alpha no_place_in_format"]],
  ["an opaque lossless WebP with a profile", () => profiled(255), []],
  ["a lossless WebP with a profile and transparency", () => profiled(128), ["alpha no_place_in_format"]],
] as const)("%s to JPEG loses as many colors as it has", async ([, make, expected]) => {
  expect(await lost(await make(), "image", { format: "jpeg" })).toEqual(expected);
});

test("opaque frames of an animated WebP that leave a part of the canvas clear count as transparency", async () => {
  const path = await makeClip("webp", ["-f", "lavfi", "-i", holes, "-c:v", "libwebp_anim"]);
  const bytes = await readFile(path);
  expect(bytes.readUInt8(20)).toBe(0x02);
  const source = { object: "source", url: "file:clear", kind: "image", format: "webp" } as const;
  const { has_alpha } = await readTransparency(source, bytesReader(bytes), AbortSignal.timeout(10_000));
  expect(has_alpha).toBe(true);
});

test("the header of an animated WebP states its transparency", async () => {
  const bytes = await readFile(await movingWebp());
  const read = (flags: number) => {
    bytes[20] = flags;
    const source = { object: "source", url: "file:moving", kind: "image", format: "webp" } as const;
    return readTransparency(source, bytesReader(bytes), AbortSignal.timeout(10_000));
  };
  expect(await read(0x12)).toEqual({ has_alpha: true });
  expect(await read(0x02)).toEqual({ has_alpha: false });
});
