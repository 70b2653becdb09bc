import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BURN_FONT } from "../../src/media/features/subtitles.ts";
import { chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { NATIVE_TOOLS, type Toolset } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { CaptionStyleOption } from "../../src/media/option-shapes.ts";
import type { OptionsOf, VideoOptions } from "../../src/media/options.ts";
import { burnText } from "../../src/runs/steps/text-scripts.ts";
import { readFont } from "../../src/subtitles/font.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { runNative } from "../judge/native.ts";
import { colorDistance, type Picture, readPicture } from "../judge/picture.ts";
import { videoSource } from "../plan/source.ts";
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

/** Encodes a clip in chunks with a text burnt in, or only draws it in `pixels`, and returns the paths of their outputs. */
async function burn<K extends "video" | "adaptive_video">(
  kind: K,
  input: string,
  { text, style }: { text: string; style?: CaptionStyleOption },
  options: OptionsOf<K>,
  { chunk_seconds, pixels }: { chunk_seconds?: number; pixels?: string } = {},
) {
  const source = await probe(input);
  const extra = [{ object: "source", url: URL, kind: "data", format: "subrip", filesize: 99 } as const];
  const request = { ...options, subtitles: [{ url: URL, burn: true, ...(style && { style }) }] };
  const hints = { ...(chunk_seconds && { chunk_seconds }), extra };
  const plan = createPlan(source, kind as EncodeKind, request, hints);
  expect(plan.further).toMatchObject([{ role: "subtitles" }, { role: "font", size: BURN_FONT.size }]);
  const home = await mkdtemp(join(folder, "job-"));
  const [bytes, font] = [new TextEncoder().encode(text), new Uint8Array(await readFile(FONT))];
  const reader = { size: bytes.length, read: async () => bytes };
  const ass = await burnText({
    ...{ reader, plan, source, options: request, fonts: async () => [readFont(font)] },
    signal: AbortSignal.timeout(10_000),
  });
  const paths = ["text", "font"].map((name) => join(home, name, "input"));
  for (const [at, path] of paths.entries()) {
    await mkdir(join(path, ".."));
    await writeFile(path, at === 0 ? ass : font);
  }
  const outputs: string[] = [];
  for (const chunk of plan.chunks.filter(({ track }) => track !== "audio")) {
    const output = join(home, kind === "video" ? `${chunk.index}.${plan.format}` : String(chunk.index));
    const io = { input, output, extra: paths.map((path) => ({ path, input: [] })) };
    const args = chunkArgs(plan, chunk, source, io, TOOLS);
    const drawn = args.slice(0, args.indexOf("[video]") + 1);
    const own = pixels ? [...drawn, "-pix_fmt", pixels, "-f", "rawvideo", output] : args;
    await runNative(["-y", ...own]);
    outputs.push(output);
  }
  return outputs;
}

/** Returns the greatest luma of each picture of a clip with a text burnt in, all chunks in a row. */
async function brightest(input: string, text: string, options: VideoOptions, chunk_seconds: number) {
  const outputs = await burn("video", input, { text }, options, { chunk_seconds });
  const values: number[] = [];
  for (const output of outputs) {
    const { output: listed } = await runNative([
      ...["-i", output, "-vf", "signalstats,metadata=print:key=lavfi.signalstats.YMAX:file=-"],
      ...["-f", "null", "/dev/null"],
    ]);
    values.push(...[...listed.toString().matchAll(/YMAX=(\d+)/g)].map(([, value]) => Number(value)));
  }
  return { values, chunks: outputs.length };
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

const hdrFilm = (lavfi: string) =>
  makeClip("mp4", [
    ...["-f", "lavfi", "-i", `${lavfi},format=yuv420p10le`],
    ..."-c:v libx265 -x265-params lossless=1:log-level=error -tag:v hvc1 -color_primaries bt2020".split(" "),
    ..."-color_trc smpte2084 -colorspace bt2020nc".split(" "),
  ]);

test("pictures of 10 bits keep them below a text in color", async () => {
  const ramp = "format=yuv420p10le,geq=lum=300+X:cb=512:cr=512";
  const film = await hdrFilm(`color=gray:size=160x120:rate=25:duration=0.2,${ramp}`);
  const text = { text: srt(["00,000", "00,200"]), style: { color: "#ffd400" } };
  const [path = ""] = await burn("video", film, text, { codec: "h265" }, { pixels: "yuv420p10le" });
  const luma = await readFile(path);
  const row = Array.from({ length: 160 }, (_, x) => luma.readUInt16LE(2 * x));
  expect(row).toEqual(Array.from({ length: 160 }, (_, x) => 300 + x));
});

test("in HDR white is as bright as that of graphics", async () => {
  const hdr = await hdrFilm("color=gray:size=160x120:rate=25:duration=1");
  const { values } = await brightest(hdr, srt(["00,400", "00,800"]), { codec: "h265" }, 60);
  // In 10 bits, black is 64 and white 940.
  const level = 64 + 0.58 * (940 - 64);
  expect(shownOf(values, 530)).toEqual(frames(10, 20));
  expect(Math.abs(Math.max(...values) - level)).toBeLessThan(30);
});

/** Returns the bounding box of the pixels of a color in a picture. */
function edgesOf({ width, height, at }: Picture, color: Parameters<typeof colorDistance>[0]) {
  const edges = { left: width, top: height, right: -1, bottom: -1 };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (colorDistance(at(x, y), color) > 12) continue;
      edges.left = Math.min(edges.left, x);
      edges.right = Math.max(edges.right, x);
      edges.top = Math.min(edges.top, y);
      edges.bottom = Math.max(edges.bottom, y);
    }
  }
  return edges;
}

const STYLE: CaptionStyleOption = {
  ...{ size: 72, color: "#ffd400", outline: "#d01060", box: "#0000ff80", position: "top-left" },
};
const YELLOW = [255, 0xd4, 0, 255] as const;
const PINK = [0xd0, 0x10, 0x60, 255] as const;
// Half of the gray below shines through.
const BLUE = [64, 64, 191, 255] as const;
const GRAY = [128, 128, 128, 255] as const;
const STYLED = "WEBVTT\n\n00:00.400 --> 00:00.800 line:90%\n\u2588\u2588\n";

const grayFilm = (matrix: string) =>
  makeClip("mp4", [
    ...["-f", "lavfi", "-i", "color=gray:size=640x360:rate=25:duration=1,format=yuv420p"],
    ..."-c:v libx264 -preset ultrafast -color_primaries bt709 -color_trc bt709".split(" "),
    ...["-colorspace", matrix],
  ]);

test.for([{ matrix: "bt709" }, { matrix: "smpte170m" }])(
  "a style sets the size, colors and place of a text in pictures of $matrix",
  async ({ matrix }) => {
    const text = { text: STYLED, style: STYLE };
    const [path = ""] = await burn("video", await grayFilm(matrix), text, {});
    const [before, shown] = [await readPicture(path, { frame: 9 }), await readPicture(path, { frame: 12 })];
    expect(colorDistance(before.at(60, 40), GRAY)).toBeLessThan(4);
    expect(colorDistance(shown.at(500, 300), GRAY)).toBeLessThan(4);
    // The margins are 32 and 18 pixels, the lines 84 pixels high and the outlines 6 wide; a box surrounds its letters by a fifth of 84.
    expect(edgesOf(shown, YELLOW)).toEqual({ left: 33, top: 19, right: 140, bottom: 100 });
    expect(edgesOf(shown, PINK)).toEqual({ left: 27, top: 13, right: 146, bottom: 106 });
    const box = edgesOf(shown, BLUE);
    expect(box.top).toBe(0);
    expect(box.left).toBeGreaterThanOrEqual(10);
    expect(box.right).toBeLessThanOrEqual(166);
  },
);

test("every rendition of a stream with bars has the style, at its own size", async () => {
  const options = { width: 640, height: 480, fit: "contain", background: "#000000" } as const;
  const text = { text: STYLED, style: STYLE };
  const [stream = ""] = await burn("adaptive_video", await grayFilm("bt709"), text, options);
  const folders = (await readdir(stream, { withFileTypes: true })).flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  );
  expect(folders.length).toBeGreaterThan(1);
  for (const name of folders) {
    const picture = await readPicture(join(stream, name, "playlist.m3u8"), { frame: 12 });
    const at = (x: number, y: number) =>
      picture.at(Math.round((x * picture.width) / 640), Math.round((y * picture.height) / 480));
    expect([name, colorDistance(at(80, 60), YELLOW) < 12]).toEqual([name, true]);
  }
});

test.for([
  { style: {}, plan: { burn: { file: 0 } } },
  { style: { color: "#c0c0c0", outline: "#000" }, plan: { burn: { file: 0 } } },
  { style: { box: "#000000a0", position: "top" }, plan: { burn: { file: 0 } } },
  {
    style: { color: "#ff0", box: "#00f8" },
    plan: {
      caption_color: { file: 0, letters: "0xffff00", outline: "0x00000000", box: "0x0000ff88" },
    },
  },
  {
    style: { color: "#ffffff80" },
    plan: { caption_color: { file: 0, letters: "0xffffff80", outline: "0x000000", box: "0x00000000" } },
  },
] as const)("the colors of $style are planned", ({ style, plan }) => {
  const { video } = createPlan(videoSource(), "video", { subtitles: [{ url: URL, burn: true, style }] });
  expect(video).toMatchObject(plan);
  expect(Object.keys(video ?? {}).filter((name) => ["burn", "caption_color"].includes(name))).toEqual(
    Object.keys(plan),
  );
});

test("letters of a style that would fill the memory of a renderer are refused", async () => {
  const film = await grayFilm("bt709");
  // Both texts are visible at once.
  const cues = srt(["00,200", "00,600"], ["00,400", "00,800"]);
  const text = cues.replaceAll("\u2588\u2588\u2588", "A".repeat(250));
  await expect(burn("video", film, { text, style: { size: "200%" } }, {})).rejects.toMatchObject({
    kind: "invalid_options",
    param: "options.subtitles.0.style.size",
    message:
      "options.subtitles.0.style.size makes so many letters too large to draw; it can be at most 357 pixels.",
  });
});
