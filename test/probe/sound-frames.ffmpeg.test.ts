import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createPlan } from "../../src/media/index.ts";
import { measureFrames } from "../../src/probe/sound-frames.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { bytesReader, probeFile } from "./probe-file.ts";

// Quiet at first, then loud, so that an estimate from the start alone would be wrong.
const UNEVEN = [
  ...["-f", "lavfi", "-i", "sine=frequency=300:duration=40,volume=0.02"],
  ...["-f", "lavfi", "-i", "anoisesrc=seed=1:duration=65.8:amplitude=0.5:sample_rate=44100"],
  ...["-filter_complex", "[0][1]concat=n=2:v=0:a=1"],
];

const FILES = [
  // Frames have 1024 samples in AAC, and 1152 or 576 in MP3.
  { format: "aac", args: ["-c:a", "aac", "-b:a", "128k"], seconds: (4558 * 1024) / 44_100 },
  {
    format: "mp3",
    args: ["-c:a", "libmp3lame", "-q:a", "4", "-write_xing", "0"],
    seconds: (4052 * 1152) / 44_100,
  },
  {
    format: "mp3",
    args: ["-c:a", "libmp3lame", "-b:a", "96k", "-write_xing", "0"],
    seconds: (4052 * 1152) / 44_100,
  },
  {
    format: "mp3",
    args: ["-c:a", "libmp3lame", "-q:a", "5", "-ar", "22050", "-write_xing", "0"],
    seconds: (4053 * 576) / 22_050,
  },
  // Frames have 1536 samples in AC-3, and 512 in DTS.
  { format: "ac3", args: ["-c:a", "ac3", "-b:a", "192k"], seconds: (3038 * 1536) / 44_100 },
  { format: "eac3", args: ["-c:a", "eac3", "-b:a", "96k"], seconds: (3038 * 1536) / 44_100 },
  { format: "dts", args: ["-c:a", "dca", "-strict", "-2", "-b:a", "700k"], seconds: (9113 * 512) / 44_100 },
] as const;

test.for(FILES)(
  "measures the duration of $format with $args by its frames",
  async ({ format, args, seconds }) => {
    const path = await makeClip(format, [...UNEVEN, ...args]);
    const { source } = await probeFile(path);
    expect(source).toMatchObject({ format, kind: "audio", duration: Math.round(seconds * 1e6) / 1e6 });
    expect(source.duration_estimated).toBeUndefined();
    const junk = Buffer.alloc(3000, 0x55);
    const damaged = bytesReader(Buffer.concat([junk, await readFile(path)]));
    const measured = await measureFrames(damaged, format, AbortSignal.timeout(20_000));
    expect(measured).toEqual({ seconds: expect.closeTo(seconds, 3) });
  },
);

test("leaves a large file unmeasured, and plans accept a start and an end past its estimate", async () => {
  const path = await makeClip("aac", [...UNEVEN, "-c:a", "aac", "-b:a", "128k"]);
  const bytes = await readFile(path);
  const copies = Math.ceil((33 * 1024 * 1024) / bytes.length);
  const large = bytesReader(Buffer.concat(Array.from({ length: copies }, () => bytes)));
  const measured = await measureFrames(large, "aac", AbortSignal.timeout(20_000));
  expect(measured).toEqual({ seconds: null });
  const { source } = await probeFile(path);
  const estimated = { ...source, duration: 96.7, duration_estimated: true };
  expect(createPlan(estimated, "audio", { end: 105 })).toMatchObject({ end: 105, duration: 105 });
  expect(createPlan(estimated, "audio", { start: 104 })).toMatchObject({ start: 104, end: null });
});
