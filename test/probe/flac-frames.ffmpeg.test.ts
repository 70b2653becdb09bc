import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { countContents } from "../../src/mux/contents.ts";
import { measureFlac } from "../../src/probe/sound-frames.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { bytesReader } from "./probe-file.ts";

const flac = (rate: number, ...more: readonly string[]) =>
  makeClip("flac", [
    ...["-f", "lavfi", "-i", `anoisesrc=seed=1:duration=3:amplitude=0.5:sample_rate=${rate}`, ...more],
  ]);

// Each rate is written in another way: by a code, in kilohertz, in hertz, in tens of hertz, and in the file's header alone.
test.for([
  { rate: 44_100, more: [] },
  { rate: 39_000, more: [] },
  { rate: 35_467, more: [] },
  { rate: 134_560, more: [] },
  { rate: 384_000, more: [] },
  { rate: 48_000, more: ["-ac", "8", "-sample_fmt", "s32"] },
  { rate: 8000, more: ["-frame_size", "16"] },
] as const)("adds up the frames of FLAC at $rate Hz with $more", async ({ rate, more }) => {
  const reader = bytesReader(await readFile(await flac(rate, ...more)));
  expect(await measureFlac(reader)).toBeCloseTo(3, 9);
  expect(await countContents(reader)).toEqual({ pictures: 0, sound: expect.closeTo(3, 9) });
});

test("leaves out frames that are damaged or cut off", async () => {
  const bytes = await readFile(await flac(48_000, "-frame_size", "4800"));
  // The damage is in the middle of thirty frames.
  const damaged = Buffer.from(bytes);
  damaged.writeUInt32BE(0x12345678, Math.round(bytes.length / 2));
  expect(await measureFlac(bytesReader(damaged))).toBeCloseTo(2.9, 9);
  expect(await measureFlac(bytesReader(bytes.subarray(0, bytes.length - 1)))).toBeCloseTo(2.9, 9);
});

test("ignores the frame sizes that the header states", async () => {
  const bytes = Buffer.from(await readFile(await flac(44_100)));
  // The longest frame, in the block STREAMINFO.
  bytes.writeUIntBE(100, 15, 3);
  expect(await measureFlac(bytesReader(bytes))).toBeCloseTo(3, 9);
});

test("is null for another format", async () => {
  expect(await measureFlac(bytesReader(Buffer.from("RIFF and so on, with enough bytes")))).toBeNull();
});
