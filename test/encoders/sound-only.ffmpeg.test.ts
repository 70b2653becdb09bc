import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { takeSound } from "../../src/encoders/copy.ts";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { clip } from "../fixtures/clips.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { lateSoundClip, surroundClip } from "../judge/clips.ts";
import { runNative } from "../judge/native.ts";

const signal = () => AbortSignal.timeout(20_000);

async function extract(path: string) {
  const bytes = await readFile(path);
  const source = parseFfprobe(await runFfprobe(path), { url: "file:clip", filesize: bytes.length });
  const reader = { size: bytes.length, read: async ({ start = 0, end = 0 }) => bytes.subarray(start, end) };
  return { bytes, extracted: await takeSound(reader, source, signal()) };
}

// The sound as played from the start of the file, as ffmpeg shifts the first stream to 0.
const samplesOf = async (path: string) =>
  (await runNative(["-i", path, "-map", "0:a:0", "-af", "aresample=async=1:first_pts=0", "-f", "s16le", "-"]))
    .output;

const FILES: { name: string; make: () => Promise<string> }[] = [
  { name: "MP4", make: () => clip("mp4") },
  { name: "MP4 with B-frames", make: () => clip("mp4_b_frames") },
  { name: "MP4 with late sound", make: () => lateSoundClip(2) },
  { name: "MP4 with surround sound", make: () => surroundClip(2) },
  { name: "MOV with PCM", make: () => clip("mov_prores") },
  { name: "Matroska", make: () => clip("mkv") },
  { name: "WebM with Vorbis", make: () => clip("webm_vp8") },
];

test.for(FILES)("the sound extracted from $name is identical and in time", async ({ make }, { task }) => {
  const path = await make();
  const { bytes, extracted } = await extract(path);
  expect(extracted?.length).toBeLessThan(bytes.length);
  const alone = join(tmpdir(), `framewright-sound-${process.pid}-${task.id}`);
  try {
    await writeFile(alone, extracted ?? "");
    expect((await samplesOf(alone)).equals(await samplesOf(path))).toBe(true);
  } finally {
    await rm(alone, { force: true });
  }
});

test("does not extract Opus, which would lose its delay", async () => {
  expect((await extract(await clip("webm"))).extracted).toBeNull();
});

test("rejects a file without sound", async () => {
  await expect(extract(await clip("mp4_silent"))).rejects.toMatchObject({ kind: "encode_failed" });
});

test("does not extract from a fragmented MP4 or an inconsistent index", async () => {
  expect((await extract(await clip("mp4_fragmented"))).extracted).toBeNull();

  const path = await clip("mp4");
  const bytes = await readFile(path);
  const source = parseFfprobe(await runFfprobe(path), { url: "file:clip", filesize: bytes.length });
  // Makes stsc claim far more samples per chunk than there are.
  for (let at = bytes.indexOf("stsc"); at >= 0; at = bytes.indexOf("stsc", at + 4))
    bytes.writeUInt32BE(1e6, at + 16);
  const reader = { size: bytes.length, read: async ({ start = 0, end = 0 }) => bytes.subarray(start, end) };
  expect(await takeSound(reader, source, signal())).toBeNull();
});
