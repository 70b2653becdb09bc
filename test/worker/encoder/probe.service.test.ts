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

const FILES: [string, () => Promise<VirtualFile>, object][] = [
  [
    "AVI",
    () => padded("avi"),
    { kind: "video", format: "avi", ...picture, codecs: { video: "mpeg4", audio: "mp3" } },
  ],
  [
    "FLV",
    () => padded("flv"),
    { kind: "video", format: "flv", ...picture, codecs: { video: "h264", audio: "aac" } },
  ],
  ["raw H.264", () => repeated("h264"), { kind: "video", format: "h264", ...picture, fps: 25 }],
  [
    "MPEG-TS",
    () => repeated("mpegts"),
    { kind: "video", format: "mpegts", ...picture, codecs: { video: "h264", audio: "aac" } },
  ],
  [
    "MP4 with its moov at the end",
    () => hugeMp4(HUGE),
    { kind: "video", format: "mp4", ...picture, duration: 10 },
  ],
  ["JPEG", () => padded("jpeg"), { kind: "image", format: "jpeg", ...picture, animated: false }],
  ["PNG", () => padded("png_alpha"), { kind: "image", format: "png", ...picture, has_alpha: true }],
  ["BMP", () => padded("bmp"), { kind: "image", format: "bmp", ...picture }],
  ["WebP", () => padded("webp"), { kind: "image", format: "webp", ...picture, animated: false }],
  ["GIF", () => padded("gif_animated"), { kind: "image", format: "gif", ...picture, animated: true }],
  ["AVIF", () => padded("avif"), { kind: "image", format: "avif", ...picture, animated: false }],
];

test.for(FILES)("reads less than 5 MB of 200 MB of %s", async ([, make, facts]) => {
  const { source, reader } = await rig.probe(await make());
  expect(source).toMatchObject(facts);
  expect(reader.size).toBeGreaterThanOrEqual(HUGE);
  expect(reader.bytes).toBeLessThan(5_000_000);
});

const ANIMATED: [ClipName, boolean][] = [
  ["gif", false],
  ["gif_animated", true],
  ["webp", false],
  ["webp_animated", true],
  ["png", false],
  ["png_animated", true],
  ["jpeg", false],
  ["avif", false],
];

test.for(ANIMATED)("detects whether %s is animated: %s", async ([name, animated]) => {
  const { source } = await rig.probe(await clip(name));
  expect(source).toMatchObject({ kind: "image", ...picture, animated });
});

test("a raw stream's duration follows from its number of frames", async () => {
  const { source } = await rig.probe(await clip("h264", { seconds: 1.4 }));
  expect(source).toMatchObject({ format: "h264", duration: 1.4 });
});

const CUT: [ClipName, number][] = [
  ["mp4", 0.9],
  ["webp", 0.5],
];

test.for(CUT)("rejects %s truncated to %d of its size", async ([name, part]) => {
  const file = await readFile(await clip(name));
  const cut = virtualFile([file.subarray(0, Math.floor(file.length * part))]);
  await expect(rig.probe(cut)).rejects.toMatchObject({ kind: "input_unsupported", retryable: false });
});

const NO_MEDIA: [string, Uint8Array][] = [
  ["an empty file", new Uint8Array()],
  ["one byte", new Uint8Array(1)],
  ["zeros", new Uint8Array(300_000)],
  ["random bytes", noiseBytes(60_000)],
  ["HTML", Buffer.from("<!DOCTYPE html><html><body><h1>404 Not found</h1></body></html>")],
  ["a playlist", Buffer.from("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/secret.ts\n")],
  ["an ffconcat script", Buffer.from("ffconcat version 1.0\nfile /in/input\n")],
];

test.for(NO_MEDIA)("rejects %s", async ([, bytes]) => {
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
