import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClipName, clip } from "../../fixtures/clips.ts";
import { hugeMp4 } from "../../fixtures/huge.ts";
import { noiseBytes, type VirtualFile, virtualFile } from "../../fixtures/virtual-file.ts";
import { type EncoderRig, startEncoder } from "./rig.ts";

let rig: EncoderRig;
beforeAll(async () => {
  rig = await startEncoder();
});
afterAll(() => rig.close());

const HUGE = 200_000_000;
const ZEROS = new Uint8Array(65_536);

const padded = async (name: ClipName): Promise<VirtualFile> => {
  const file = await readFile(await clip(name));
  return virtualFile([file, { pattern: ZEROS, length: HUGE }]);
};
const repeated = async (name: ClipName): Promise<VirtualFile> => {
  const file = await readFile(await clip(name));
  const times = Math.ceil(HUGE / file.length);
  return virtualFile([{ pattern: file, length: times * file.length }]);
};
const picture = { width: 160, height: 90 };

const FILES: { name: string; make: () => Promise<VirtualFile>; facts: object }[] = [
  {
    name: "AVI",
    make: () => padded("avi"),
    facts: { kind: "video", format: "avi", ...picture, codecs: { video: "mpeg4", audio: "mp3" } },
  },
  {
    name: "FLV",
    make: () => padded("flv"),
    facts: { kind: "video", format: "flv", ...picture, codecs: { video: "h264", audio: "aac" } },
  },
  {
    name: "raw H.264",
    make: () => repeated("h264"),
    facts: { kind: "video", format: "h264", ...picture, fps: 25 },
  },
  {
    name: "MPEG-TS",
    make: () => repeated("mpegts"),
    facts: { kind: "video", format: "mpegts", ...picture, codecs: { video: "h264", audio: "aac" } },
  },
  {
    name: "MP4 with its moov at the end",
    make: () => hugeMp4(HUGE),
    facts: { kind: "video", format: "mp4", ...picture, duration: 10 },
  },
  {
    name: "JPEG",
    make: () => padded("jpeg"),
    facts: { kind: "image", format: "jpeg", ...picture, animated: false },
  },
  {
    name: "PNG",
    make: () => padded("png_alpha"),
    facts: { kind: "image", format: "png", ...picture, has_alpha: true },
  },
  { name: "BMP", make: () => padded("bmp"), facts: { kind: "image", format: "bmp", ...picture } },
  {
    name: "WebP",
    make: () => padded("webp"),
    facts: { kind: "image", format: "webp", ...picture, animated: false },
  },
  {
    name: "GIF",
    make: () => padded("gif_animated"),
    facts: { kind: "image", format: "gif", ...picture, animated: true },
  },
  {
    name: "AVIF",
    make: () => padded("avif"),
    facts: { kind: "image", format: "avif", ...picture, animated: false },
  },
];

test.for(FILES)("reads less than 5 MB of 200 MB of $name", async ({ make, facts }) => {
  const { source, reader } = await rig.probe(await make());
  expect(source).toMatchObject(facts);
  expect(reader.size).toBeGreaterThanOrEqual(HUGE);
  expect(reader.bytes).toBeLessThan(5_000_000);
});

const ANIMATED: { name: ClipName; animated: boolean }[] = [
  { name: "gif", animated: false },
  { name: "gif_animated", animated: true },
  { name: "webp", animated: false },
  { name: "webp_animated", animated: true },
  { name: "png", animated: false },
  { name: "png_animated", animated: true },
  { name: "jpeg", animated: false },
  { name: "avif", animated: false },
];

test.for(ANIMATED)("detects whether $name is animated: $animated", async ({ name, animated }) => {
  const { source } = await rig.probe(await clip(name));
  expect(source).toMatchObject({ kind: "image", ...picture, animated });
});

test("a raw stream's duration follows from its number of frames", async () => {
  const { source } = await rig.probe(await clip("h264", { seconds: 1.4 }));
  expect(source).toMatchObject({ format: "h264", duration: 1.4 });
});

const CUT: { name: ClipName; part: number }[] = [
  { name: "mp4", part: 0.9 },
  { name: "webp", part: 0.5 },
];

test.for(CUT)("rejects $name truncated to $part of its size", async ({ name, part }) => {
  const file = await readFile(await clip(name));
  const cut = virtualFile([file.subarray(0, Math.floor(file.length * part))]);
  await expect(rig.probe(cut)).rejects.toMatchObject({ kind: "input_unsupported", retryable: false });
});

const NO_MEDIA: { name: string; bytes: Uint8Array }[] = [
  { name: "an empty file", bytes: new Uint8Array() },
  { name: "one byte", bytes: new Uint8Array(1) },
  { name: "zeros", bytes: new Uint8Array(300_000) },
  { name: "random bytes", bytes: noiseBytes(60_000) },
  { name: "HTML", bytes: Buffer.from("<!DOCTYPE html><html><body><h1>404 Not found</h1></body></html>") },
  { name: "a playlist", bytes: Buffer.from("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/secret.ts\n") },
  { name: "an ffconcat script", bytes: Buffer.from("ffconcat version 1.0\nfile /in/input\n") },
];

test.for(NO_MEDIA)("rejects $name", async ({ bytes }) => {
  const probed = rig.probe(virtualFile([bytes]));
  await expect(probed).rejects.toMatchObject({ kind: "input_unsupported" });
  await expect(probed).rejects.not.toMatchObject({ message: expect.stringMatching(/127|http|\/in\//) });
});

test("reads the size of an image too large to decode from its header", async () => {
  // 30000 x 20000, with no pixels behind the header.
  const png = Buffer.from(await readFile(await clip("png")));
  png.writeUInt32BE(30_000, 16);
  png.writeUInt32BE(20_000, 20);
  const { source } = await rig.probe(virtualFile([png]));
  expect(source).toMatchObject({ kind: "image", format: "png", width: 30_000, height: 20_000 });
});
