import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { MediaError } from "../../src/media/errors.ts";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { probeMedia, type RunFfprobe } from "../../src/probe/probe.ts";
import { readStill } from "../../src/probe/still.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { swappedProfile, withProfile } from "../fixtures/profile.ts";
import { bytesReader, nativeFfprobe } from "./probe-file.ts";

const signal = new AbortController().signal;

const folder = await mkdtemp(join(tmpdir(), "framewright-still-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const words = (text: string) => text.split(" ");
const still = (extension: string, ...more: string[]) =>
  makeClip(extension, [...words("-f lavfi -i testsrc=size=161x90 -frames:v 1 -bitexact"), ...more]);
const jpeg = async (pixels: string) => readFile(await still("jpg", "-pix_fmt", pixels));

const withSegment = (bytes: Uint8Array, segment: string) =>
  Buffer.concat([bytes.subarray(0, 2), Buffer.from(segment, "hex"), bytes.subarray(2)]);
const ADOBE_RGB = "ffee000e41646f626500640000000000";

const value = (orientation: number) => `0${orientation}00000000000000`;
function turned(bytes: Uint8Array, orientation: number): Buffer {
  return withSegment(bytes, `ffe1002245786966000049492a000800000001001201030001000000${value(orientation)}`);
}

const PLAIN: { name: string; make: () => Promise<Uint8Array> }[] = [
  { name: "a JPEG of 4:2:0", make: () => jpeg("yuvj420p") },
  { name: "a JPEG of 4:2:2", make: () => jpeg("yuvj422p") },
  { name: "a JPEG of 4:4:4", make: () => jpeg("yuvj444p") },
  { name: "a JPEG rotated by 90 degrees", make: async () => turned(await jpeg("yuvj420p"), 6) },
  { name: "a JPEG rotated by 180 degrees", make: async () => turned(await jpeg("yuvj420p"), 3) },
  {
    name: "a JPEG with a color profile",
    make: async () => withProfile(await jpeg("yuvj420p"), swappedProfile()),
  },
  {
    name: "a JPEG with a list of pictures",
    make: async () => withSegment(await jpeg("yuvj420p"), "ffe200064d504600"),
  },
  { name: "a lossy WebP", make: async () => readFile(await still("webp", "-c:v", "libwebp")) },
];

test.for(PLAIN)("reports $name as ffprobe does", async ({ make }) => {
  const bytes = await make();
  const origin = { url: "file:still", filesize: bytes.length };
  const report = await readStill(bytesReader(bytes), signal);
  expect(report).not.toBeNull();
  // The name has no extension, by which ffprobe would guess the format.
  const path = join(folder, "input");
  await writeFile(path, bytes);
  const expected = await nativeFfprobe(path)(bytesReader(bytes), signal);
  expect(parseFfprobe(report, origin)).toEqual(parseFfprobe(expected, origin));
});

const UNUSUAL: { name: string; make: () => Promise<Uint8Array> }[] = [
  { name: "a JPEG that stores RGB", make: async () => withSegment(await jpeg("yuvj444p"), ADOBE_RGB) },
  {
    name: "a JPEG with non-square pixels",
    make: async () => readFile(await still("jpg", "-vf", "setsar=4/3")),
  },
  { name: "a JPEG that is cut off", make: async () => (await jpeg("yuvj420p")).subarray(0, -2) },
  { name: "a JPEG without a picture", make: async () => Uint8Array.of(0xff, 0xd8, 0xff, 0xd9) },
  {
    name: "a lossless WebP",
    make: async () => readFile(await still("webp", "-c:v", "libwebp", "-lossless", "1")),
  },
  {
    name: "a WebP that is cut off",
    make: async () => (await readFile(await still("webp", "-c:v", "libwebp"))).subarray(0, -9),
  },
  { name: "an animated WebP", make: async () => readFile(await clip("webp_animated")) },
  { name: "a PNG", make: async () => readFile(await clip("png")) },
  { name: "an empty file", make: async () => new Uint8Array() },
];

test.for(UNUSUAL)("leaves $name to ffprobe", async ({ make }) => {
  expect(await readStill(bytesReader(await make()), signal)).toBeNull();
});

test("survives a header cut off at any length", async () => {
  const bytes = turned(await jpeg("yuvj420p"), 6);
  for (let length = 0; length < 700; length++) {
    const cut = Buffer.concat([bytes.subarray(0, length), Uint8Array.of(0xff, 0xd9)]);
    const report = await readStill(bytesReader(cut), signal);
    if (report) expect(report.streams[0]).toMatchObject({ width: 161, height: 90 });
  }
});

test("takes a TGA whose bytes resemble frames of AMR for a picture", async () => {
  const red = words("-f lavfi -i color=0xC81E1E:s=96x64 -frames:v 1 -pix_fmt bgr24 -rle 0");
  const bytes = await readFile(await makeClip("tga", red));
  // ffprobe guesses by the bytes if a file has no extension.
  const path = join(folder, "red");
  await writeFile(path, bytes);
  const source = await probeMedia(bytesReader(bytes), { url: "file:red" }, nativeFfprobe(path), signal);
  expect(source).toMatchObject({ kind: "image", format: "targa", width: 96, height: 64 });
});

const LARGE: Readonly<Record<string, readonly string[]>> = {
  jp2: ["rgb24", "yuv420p", "gray16le", "pal8"],
  tif: ["gray", "pal8", "rgb48le", "yuv420p"],
  dpx: ["rgb24", "gbrp10be"],
  pcx: ["rgb24", "pal8"],
  ppm: ["rgb48be"],
  pbm: ["monow"],
  qoi: ["rgba"],
  sgi: ["rgb48be"],
  ras: ["pal8", "bgr24"],
  exr: ["gbrpf32le", "gbrapf32le", "grayf32le"],
  fits: ["gray", "gbrp16be", "gbrap"],
  xwd: ["gray", "pal8", "rgb24", "bgr24", "rgba", "bgra", "argb", "abgr"],
  jls: ["gray", "gray16le", "rgb24"],
};

test.for(Object.keys(LARGE))(
  "describes a %s by its header where ffprobe has no memory for it",
  async (name) => {
    for (const pixels of LARGE[name] ?? []) {
      const path = await still(name, "-pix_fmt", pixels);
      const bytes = await readFile(path);
      const probeWith = (ffprobe: RunFfprobe) =>
        probeMedia(bytesReader(bytes), { url: "file:still" }, ffprobe, signal);
      const source = await probeWith(async () => {
        throw new MediaError("out_of_memory", "No memory.");
      });
      const { color: own, ...facts } = source;
      const { color, ...expected } = await probeWith(nativeFfprobe(path));
      expect(facts).toEqual(expected);
      expect(own?.bit_depth).toBe(color?.bit_depth);
    }
  },
);
