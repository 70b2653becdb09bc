import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { takeSound } from "../../src/encoders/run/sound-only.ts";
import { parseFfprobe } from "../../src/ffmpeg/parse-ffprobe.ts";
import { clip } from "../fixtures/clips.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { lateSoundClip, surroundClip } from "../judge/clips.ts";
import { runNative } from "../judge/native.ts";

const signal = () => AbortSignal.timeout(20_000);

async function take(path: string) {
  const bytes = await readFile(path);
  const source = parseFfprobe(await runFfprobe(path), { url: "file:clip", filesize: bytes.length });
  const reader = { size: bytes.length, read: async ({ start = 0, end = 0 }) => bytes.subarray(start, end) };
  return { bytes, taken: await takeSound(reader, source, signal()) };
}

// What a player hears, from the start of the file on: ffmpeg shifts a file so that its first stream starts at 0.
const heard = async (path: string) =>
  (await runNative(["-i", path, "-map", "0:a:0", "-af", "aresample=async=1:first_pts=0", "-f", "s16le", "-"]))
    .output;

const FILES: [string, () => Promise<string>][] = [
  ["MP4", () => clip("mp4")],
  ["MP4 with B-frames", () => clip("mp4_b_frames")],
  ["MP4 with sound that comes late", () => lateSoundClip(2)],
  ["MP4 with surround sound", () => surroundClip(2)],
  ["MOV with PCM", () => clip("mov_prores")],
  ["Matroska", () => clip("mkv")],
  ["WebM with Vorbis", () => clip("webm_vp8")],
];

test.for(FILES)("the sound taken out of %s is the same, at the same time", async ([, make], { task }) => {
  const path = await make();
  const { bytes, taken } = await take(path);
  expect(taken?.length).toBeLessThan(bytes.length);
  const alone = join(tmpdir(), `framewright-sound-${process.pid}-${task.id}`);
  try {
    await writeFile(alone, taken ?? "");
    expect((await heard(alone)).equals(await heard(path))).toBe(true);
  } finally {
    await rm(alone, { force: true });
  }
});

test("Opus is not taken out: its delay would be lost", async () => {
  expect((await take(await clip("webm"))).taken).toBeNull();
});

test("nothing is taken out of a file without sound", async () => {
  await expect(take(await clip("mp4_silent"))).rejects.toMatchObject({ kind: "encode_failed" });
});

test("an MP4 in fragments, or with an index that contradicts itself, is left alone", async () => {
  expect((await take(await clip("mp4_fragmented"))).taken).toBeNull();

  const path = await clip("mp4");
  const bytes = await readFile(path);
  const source = parseFfprobe(await runFfprobe(path), { url: "file:clip", filesize: bytes.length });
  // stco says where the chunks lie; stsc, here, that each holds far more samples than there are.
  for (let at = bytes.indexOf("stsc"); at >= 0; at = bytes.indexOf("stsc", at + 4))
    bytes.writeUInt32BE(1e6, at + 16);
  const reader = { size: bytes.length, read: async ({ start = 0, end = 0 }) => bytes.subarray(start, end) };
  expect(await takeSound(reader, source, signal())).toBeNull();
});
