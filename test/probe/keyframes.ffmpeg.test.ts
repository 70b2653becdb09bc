import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { Source } from "../../src/media/source.ts";
import { readKeyframes } from "../../src/probe/entries.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { bytesReader, diskReader } from "./probe-file.ts";

const run = promisify(execFile);
const signal = AbortSignal.timeout(120_000);
const sourceOf = (format: string): Source => ({ object: "source", url: "file:clip", kind: "video", format });

/** Returns the keyframes' times, which ffprobe finds by reading the whole file. */
async function keyframesOf(path: string): Promise<number[]> {
  const args = "-v error -select_streams v:0 -show_entries packet=pts_time,flags -of csv=p=0";
  const { stdout } = await run("ffprobe", [...args.split(" "), path]);
  const keys = stdout.split("\n").filter((line) => line.includes("K"));
  return keys.map((line) => Number.parseFloat(line)).sort((a, b) => a - b);
}

const FOUND: { name: ClipName; format: string }[] = [
  { name: "mp4", format: "mp4" },
  { name: "mp4_faststart", format: "mp4" },
  { name: "mp4_b_frames", format: "mp4" },
  { name: "mp4_vfr", format: "mp4" },
  { name: "mov", format: "mov" },
  { name: "webm", format: "webm" },
  { name: "mkv", format: "matroska" },
];

test.concurrent.for(FOUND)(
  "finds the keyframes of $name without reading media",
  async ({ name, format }, { expect }) => {
    const path = await clip(name, { seconds: 7 });
    const expected = await keyframesOf(path);
    const reader = await diskReader(path);
    const times = await readKeyframes(reader, sourceOf(format), signal);
    expect(times.length).toBeGreaterThan(2);
    expect(times).toHaveLength(expected.length);
    for (const [index, time] of times.entries())
      expect(Math.abs(time - (expected[index] ?? -1))).toBeLessThan(0.0011);
    expect(reader.reads()).toBeLessThan(12);
  },
);

test("finds keyframes at their displayed times when an edit list delays the video", async () => {
  const path = await makeClip("mp4", [
    ..."-f lavfi -i sine=d=6 -itsoffset 1.5 -f lavfi -i testsrc2=s=160x90:r=25:d=4".split(" "),
    ..."-map 1:v -map 0:a -fps_mode passthrough -c:v libx264 -g 25 -pix_fmt yuv420p -c:a aac".split(" "),
  ]);
  const expected = await keyframesOf(path);
  expect(expected[0]).toBeCloseTo(1.5, 1);
  const times = await readKeyframes(await diskReader(path), sourceOf("mp4"), signal);
  for (const [index, time] of times.entries())
    expect(Math.abs(time - (expected[index] ?? -1))).toBeLessThan(0.0011);
  expect(times).toHaveLength(expected.length);
});

test.for([
  ["a fragmented file", "mp4_fragmented", "mp4"],
  ["a format without an index", "mp3", "mp3"],
  ["sound alone", "m4a", "mp4"],
] as const)("finds no keyframes in %s", async ([, name, format]) => {
  const path = await clip(name, { seconds: 3 });
  expect(await readKeyframes(await diskReader(path), sourceOf(format), signal)).toEqual([]);
});

test.for([
  { name: "mp4_faststart", format: "mp4" },
  { name: "webm", format: "webm" },
] as const)("returns only finite times for a damaged $name", async ({ name, format }) => {
  const bytes = new Uint8Array(await readFile(await clip(name, { seconds: 3 })));
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let trial = 0; trial < 200; trial++) {
    const broken = bytes.slice(0, trial % 4 === 0 ? next(bytes.length) : bytes.length);
    for (let flips = 0; flips < 20; flips++) broken[next(Math.min(broken.length, 4096))] = next(256);
    const times = await readKeyframes(bytesReader(broken), sourceOf(format), signal);
    expect(times.every((time) => Number.isFinite(time) && time >= 0)).toBe(true);
  }
});

test("rejects as the reader does, and when aborted", async () => {
  const gone = new Error("gone");
  const failing = { size: 1000, read: () => Promise.reject(gone) };
  await expect(readKeyframes(failing, sourceOf("mp4"), signal)).rejects.toBe(gone);
  const reason = new Error("stopped");
  await expect(readKeyframes(failing, sourceOf("webm"), AbortSignal.abort(reason))).rejects.toBe(reason);
});
