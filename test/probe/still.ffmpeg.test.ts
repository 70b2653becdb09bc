import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
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

const PLAIN: [string, () => Promise<Uint8Array>][] = [
  ["a JPEG of 4:2:0", () => jpeg("yuvj420p")],
  ["a JPEG of 4:2:2", () => jpeg("yuvj422p")],
  ["a JPEG of 4:4:4", () => jpeg("yuvj444p")],
  ["a JPEG rotated by 90 degrees", async () => turned(await jpeg("yuvj420p"), 6)],
  ["a JPEG rotated by 180 degrees", async () => turned(await jpeg("yuvj420p"), 3)],
  ["a JPEG with a color profile", async () => withProfile(await jpeg("yuvj420p"), swappedProfile())],
  ["a lossy WebP", async () => readFile(await still("webp", "-c:v", "libwebp"))],
];

test.for(PLAIN)("reports %s as ffprobe does", async ([, make]) => {
  const bytes = await make();
  const origin = { url: "file:still", filesize: bytes.length };
  const report = await readStill(bytesReader(bytes), signal);
  expect(report).not.toBeNull();
  // Without an extension, which ffprobe would guess by.
  const path = join(folder, "input");
  await writeFile(path, bytes);
  const wanted = await nativeFfprobe(path)(bytesReader(bytes), signal);
  expect(parseFfprobe(report, origin)).toEqual(parseFfprobe(wanted, origin));
});

const UNUSUAL: [string, () => Promise<Uint8Array>][] = [
  ["a JPEG of several pictures", async () => withSegment(await jpeg("yuvj420p"), "ffe200064d504600")],
  ["a JPEG that stores RGB", async () => withSegment(await jpeg("yuvj444p"), ADOBE_RGB)],
  ["a JPEG with non-square pixels", async () => readFile(await still("jpg", "-vf", "setsar=4/3"))],
  ["a JPEG that is cut off", async () => (await jpeg("yuvj420p")).subarray(0, -2)],
  ["a JPEG without a picture", async () => Uint8Array.of(0xff, 0xd8, 0xff, 0xd9)],
  ["a lossless WebP", async () => readFile(await still("webp", "-c:v", "libwebp", "-lossless", "1"))],
  [
    "a WebP that is cut off",
    async () => (await readFile(await still("webp", "-c:v", "libwebp"))).subarray(0, -9),
  ],
  ["an animated WebP", async () => readFile(await clip("webp_animated"))],
  ["a PNG", async () => readFile(await clip("png"))],
  ["an empty file", async () => new Uint8Array()],
];

test.for(UNUSUAL)("leaves %s to ffprobe", async ([, make]) => {
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
