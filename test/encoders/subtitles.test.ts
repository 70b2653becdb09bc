import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { createCopyEncoder } from "../../src/encoders/run/copy.ts";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { readMatroskaCues } from "../../src/encoders/subtitles/matroska-cues.ts";
import { element, uint } from "../../src/encoders/subtitles/webm-text.ts";
import { memoryReader } from "../../src/probe/file-start.ts";
import { concatBytes } from "../../src/util/bytes.ts";
import { captionedVideo, readCues } from "../judge/cues.ts";
import { probeFile } from "../probe/probe-file.ts";
import { fetchStored, type Trial, trial } from "./encode-trial.ts";

const run = promisify(execFile);

const ITALIC = "<i>Kursiv</i>, und/zwei";
const CUES = {
  subrip: ["0.500 1.500 Hello <i>it</i> & <b>bo</b>", "1.500 2.123 Two/lines äöü 😀", "3.001 3.999 red"],
  ass: [`0.500 2.000 ${ITALIC}`, "1.000 3.000 Overlap, late"],
  // One sample at a time has all that is shown.
  flat: [`0.500 1.000 ${ITALIC}`, `1.000 2.000 ${ITALIC}/Overlap, late`, "2.000 3.000 Overlap, late"],
  webvtt: ["0.250 1.750 Top & Bob"],
};
const FACTS = [
  { kind: "subtitle", language: "deu", title: "Titel", default: true },
  { kind: "subtitle", language: "eng", forced: true },
  { kind: "subtitle" },
];

async function outputOf(trial: Trial): Promise<string> {
  const { key } = await runEncode(trial);
  expect(trial.storage.keys.at(-1)).toBe(key);
  for (const made of trial.storage.keys.slice(0, -1)) expect(await trial.storage.head(made)).toBeNull();
  return fetchStored(trial.storage, key);
}

// Packets of pictures and sound with their times, and the first pictures after a seek.
async function packetsOf(path: string): Promise<string> {
  const hash = ["-map", "0:v", "-map", "0:a", "-c", "copy", "-f", "framehash", "-"];
  const { stdout } = await run("ffmpeg", ["-v", "error", "-i", path, ...hash]);
  const seek = ["-read_intervals", "3%+#1", "-select_streams", "v", "-show_entries", "packet=pts,size", path];
  return stdout + (await run("ffprobe", ["-v", "error", ...seek])).stdout;
}

test.for([
  ["mp4", "mov_text", CUES.flat],
  ["mov", "mov_text", CUES.flat],
  ["webm", "webvtt", CUES.ass],
] as const)("%s holds the text tracks of a Matroska file as %s", async ([format, codec, ass]) => {
  const input = await captionedVideo("mkv");
  const options = { format, width: 80 };
  const path = await outputOf(await trial(input, "video", options));
  expect(await readCues(path, 0)).toEqual(CUES.subrip);
  expect(await readCues(path, 1)).toEqual(ass);
  expect(await readCues(path, 2)).toEqual(CUES.webvtt);
  const { source, fell_back } = await probeFile(path);
  expect(fell_back).toBe(false);
  const { streams = [] } = source;
  const texts = streams.filter(({ kind }) => kind === "subtitle");
  expect(texts.map((text) => text.codec)).toEqual([codec, codec, codec]);
  expect(texts).toMatchObject(FACTS);
  // Nothing else differs from an output without them.
  const { plan, ...plain } = await trial(input, "video", options);
  const { subtitles: _, ...bare } = plan;
  expect(await packetsOf(path)).toBe(await packetsOf(await outputOf({ ...plain, plan: bare })));
});

test.for(["mp4", "webm"] as const)(
  "stitched chunks of a part at twice the speed keep it: %s",
  async (format) => {
    const options = { format, width: 80, start: 1, end: 3.5, speed: 2 };
    const path = await outputOf(
      await trial(await captionedVideo("mkv"), "video", options, { hints: { chunk_seconds: 1 } }),
    );
    // The pictures of the source start at 0.021 s, which moves its cues away from whole numbers.
    expect(await readCues(path, 0)).toEqual([
      "0.000 0.261 Hello <i>it</i> & <b>bo</b>",
      "0.261 0.572 Two/lines äöü 😀",
      "1.011 1.250 red",
    ]);
  },
);

test("timed text of an MP4 becomes WebVTT, and is copied with the rest", async () => {
  const input = await captionedVideo("mp4");
  const webm = await outputOf(await trial(input, "video", { format: "webm", width: 80 }));
  expect(await readCues(webm, 0)).toEqual(CUES.subrip);
  const copied = await outputOf(await trial(input, "video", {}, { encoder: createCopyEncoder() }));
  expect(await readCues(copied, 0)).toEqual(CUES.subrip);
});

const HELLO = new TextEncoder().encode("Hello");
const ALGORITHM = { zlib: 0, stripping: 3, bzip2: 1 } as const;

test.for([
  ["zlib", deflateSync(HELLO), "Hello"],
  ["stripping", HELLO.subarray(2), "Hello"],
  ["zlib", HELLO, null],
  ["bzip2", HELLO, undefined],
] as const)("reads the text of a block compressed by %s: %#", async ([name, bytes, text]) => {
  const settings = name === "stripping" ? [element(0x4255, HELLO.subarray(0, 2))] : [];
  const compression = element(0x5034, uint(0x4254, ALGORITHM[name], 1), ...settings);
  const codec = element(0x86, new TextEncoder().encode("S_TEXT/UTF8"));
  const encodings = element(0x6d80, element(0x6240, compression));
  const track = element(0xae, uint(0xd7, 1, 1), uint(0x83, 17, 1), codec, encodings);
  const block = element(0xa1, Uint8Array.of(0x81, 0, 5, 0), bytes);
  const cluster = element(0x1f43b675, uint(0xe7, 100, 1), element(0xa0, block, uint(0x9b, 50, 1)));
  const segment = element(0x18538067, element(0x1654ae6b, track), cluster, Uint8Array.of(0xff, 1, 2));
  const file = concatBytes([element(0x1a45dfa3), segment]);
  const signal = AbortSignal.timeout(10_000);
  const found = await readMatroskaCues(memoryReader([file]), [0], { signal, onWait: () => {} });
  const cue = { start: 105, end: 155, text, settings: "" };
  expect(found.get(0)).toEqual(text === undefined ? undefined : text === null ? [] : [cue]);
});
