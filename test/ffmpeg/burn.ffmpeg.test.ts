import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BURN_FONT } from "../../src/media/features/subtitles.ts";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { NATIVE_TOOLS, type Toolset } from "../../src/media/ffmpeg/toolset.ts";
import type { VideoOptions } from "../../src/media/options.ts";
import { burnText } from "../../src/runs/steps/burn.ts";
import { readFont } from "../../src/subtitles/font.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { runNative } from "../judge/native.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probe } from "../probe/probe-file.ts";

// Lossless, so that pixels without text stay the same.
const TOOLS: Toolset = {
  ...NATIVE_TOOLS,
  video: { ...NATIVE_TOOLS.video, h264: { encoder: "libx264", args: ["-preset", "ultrafast"] } },
};
const URL = "https://example.com/a.srt";
const FONT = createRequire(import.meta.url).resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf");

let folder: string;
let gray: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-burn-"));
  gray = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "color=gray:size=160x120:rate=25:duration=6,format=yuv420p"],
    ..."-c:v libx264 -preset veryfast -g 25".split(" "),
  ]);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Encodes a clip in chunks with a text burnt in, and returns the greatest luma of each picture of all of them in a row. */
async function brightest(input: string, text: string, options: VideoOptions, chunk_seconds: number) {
  const source = await probe(input);
  const extra = [{ object: "source", url: URL, kind: "data", format: "subrip", filesize: 99 } as const];
  const request = { ...options, subtitles: [{ url: URL, burn: true }] };
  const plan = createPlan(source, "video", request, { chunk_seconds, extra });
  expect(plan.further).toMatchObject([{ role: "subtitles" }, { role: "font", size: BURN_FONT.size }]);
  const home = await mkdtemp(join(folder, "job-"));
  const [bytes, font] = [new TextEncoder().encode(text), new Uint8Array(await readFile(FONT))];
  const reader = { size: bytes.length, read: async () => bytes };
  const ass = await burnText({
    reader,
    plan,
    source,
    fonts: [readFont(font)],
    signal: AbortSignal.timeout(10_000),
  });
  const paths = ["text", "font"].map((name) => join(home, name, "input"));
  for (const [at, path] of paths.entries()) {
    await mkdir(join(path, ".."));
    await writeFile(path, at === 0 ? ass : font);
  }
  const values: number[] = [];
  for (const chunk of plan.chunks.filter(({ track }) => track !== "audio")) {
    const output = join(home, `${chunk.index}.${plan.format}`);
    const io = { input, output, extra: paths.map((path) => ({ path, input: [] })) };
    await runNative(["-y", ...chunkArgs(plan, chunk, source, io, TOOLS)]);
    const { output: listed } = await runNative([
      ...["-i", output, "-vf", "signalstats,metadata=print:key=lavfi.signalstats.YMAX:file=-"],
      ...["-f", "null", "/dev/null"],
    ]);
    values.push(...[...listed.toString().matchAll(/YMAX=(\d+)/g)].map(([, value]) => Number(value)));
  }
  return { values, chunks: plan.chunks.length };
}

const srt = (...cues: readonly [start: string, end: string][]) =>
  cues
    .map(([start, end], at) => `${at + 1}\n00:00:${start} --> 00:00:${end}\n\u2588\u2588\u2588\n`)
    .join("\n");
const shownOf = (values: readonly number[], white = 200) =>
  values.flatMap((value, frame) => (value > white ? frame : []));
const frames = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

test.for([
  // A text across a cut, and others that begin and end with pictures.
  ["in chunks", {}, 2, 150, [...frames(10, 20), ...frames(45, 55), ...frames(100, 101)]],
  [
    "a part at twice the speed",
    { start: 0.4, end: 4.24, speed: 2 },
    ...([1, 48, [...frames(0, 5), ...frames(18, 23), 45]] as const),
  ],
  ["at another rate", { fps: 50 }, 2, 300, [...frames(20, 40), ...frames(90, 110), ...frames(200, 202)]],
] as const)(
  "pictures show a text in its time, and no other: %s",
  async ([, options, chunk_seconds, count, shown]) => {
    const text = srt(["00,400", "00,800"], ["01,800", "02,200"], ["04,000", "04,040"]);
    const { values, chunks } = await brightest(gray, text, options, chunk_seconds);
    expect(chunks).toBeGreaterThan(1);
    expect(values).toHaveLength(count);
    expect(shownOf(values)).toEqual(shown);
  },
);

test("in HDR white is as bright as that of graphics", async () => {
  const hdr = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "color=gray:size=160x120:rate=25:duration=1,format=yuv420p10le"],
    ..."-c:v libx265 -x265-params log-level=error -tag:v hvc1 -color_primaries bt2020".split(" "),
    ..."-color_trc smpte2084 -colorspace bt2020nc".split(" "),
  ]);
  const { values } = await brightest(hdr, srt(["00,400", "00,800"]), { codec: "h265" }, 60);
  // In 10 bits, black is 64 and white 940.
  const level = 64 + 0.58 * (940 - 64);
  expect(shownOf(values, 530)).toEqual(frames(10, 20));
  expect(Math.abs(Math.max(...values) - level)).toBeLessThan(30);
});
