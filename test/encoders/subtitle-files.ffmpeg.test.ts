import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createCopyEncoder } from "../../src/encoders/copy.ts";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { nameTracks } from "../../src/media/ffmpeg/manifests.ts";
import type { Source } from "../../src/media/source.ts";
import { editFile } from "../../src/mux/file-edit.ts";
import { readMovieIndex } from "../../src/probe/mp4.ts";
import { memoryReader } from "../../src/probe/reader.ts";
import { readAll } from "../../src/storage/storage.ts";
import { readMp4Cues } from "../../src/subtitles/timed-text.ts";
import { MIB } from "../../src/util/bytes.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { captionedVideo, readCues } from "../judge/cues.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { diskReader, probeFile } from "../probe/probe-file.ts";
import { fetchStored, trial } from "./encode-trial.ts";

const SRT =
  "1\n00:00:00,500 --> 00:00:01,250\n<i>One</i> & äö\n\n2\n00:00:01,500 --> 00:00:09,000\nTwo\nlines\n";
const VTT = "WEBVTT\n\n00:00.250 --> 00:01.000\nA\n\n00:00.750 --> 00:01.500\nB\n";
const CUES = ["0.500 1.250 <i>One</i> & äö", "1.500 2.000 Two/lines"];
const url = "https://example.com/subtitles";
// More bytes than the header of a track has room for.
const LONG = `B${"語".repeat(99)}`;
const SUBTITLES = [
  { url, language: "de-AT", label: "Öst & <\"'>", default: true },
  { url, label: LONG },
];

// A run with files of these texts.
async function runWith(texts: readonly string[], path: string, options: object, changes: object = {}) {
  const bytes = texts.map((text) => new TextEncoder().encode(text));
  const subtitles = texts.map((_, at) => SUBTITLES[at] ?? { url });
  const run = await trial(path, "video", { subtitles, ...options }, changes);
  const { key } = await runEncode({
    ...run,
    text: async (file) => memoryReader([bytes[file] ?? new Uint8Array()]),
  });
  return fetchStored(run.storage, key);
}

test.for([
  { format: "mp4", codec: "mov_text", second: ["0.250 0.750 A", "0.750 1.000 A/B", "1.000 1.500 B"] },
  { format: "mov", codec: "mov_text", second: ["0.250 0.750 A", "0.750 1.000 A/B", "1.000 1.500 B"] },
  { format: "webm", codec: "webvtt", second: ["0.250 1.000 A", "0.750 1.500 B"] },
] as const)("files of subtitles are text tracks of $format as $codec", async ({ format, codec, second }) => {
  const path = await runWith([SRT, VTT], await clip("mp4", { seconds: 2 }), { format, width: 80 });
  expect(await readCues(path, 0)).toEqual(CUES);
  expect(await readCues(path, 1)).toEqual(second);
  const { streams = [] } = (await probeFile(path)).source;
  const texts = streams.filter(({ kind }) => kind === "subtitle");
  expect(texts).toMatchObject([
    { codec, language: "deu", title: "Öst & <\"'>", default: true },
    { codec, title: LONG },
  ]);
  expect(texts[1]).not.toHaveProperty("default");
});

test.for([
  { format: "mp4", changes: {} },
  { format: "webm", changes: { hints: { chunk_seconds: 1 } } },
] as const)(
  "they follow those of the source, are cut and sped up with it: $format",
  async ({ format, changes }) => {
    const input = await captionedVideo("mkv");
    const options = { format, width: 80, start: 1, end: 3, speed: 2 };
    const path = await runWith([SRT], input, options, changes);
    expect(await readCues(path, 3)).toEqual(["0.000 0.125 <i>One</i> & äö", "0.250 1.000 Two/lines"]);
    const { streams = [] } = (await probeFile(path)).source;
    const texts = streams.filter(({ kind }) => kind === "subtitle");
    expect(texts.map((text) => [text.language, text.default])).toEqual([
      ["deu", undefined],
      ["eng", undefined],
      [undefined, undefined],
      ["deu", true],
    ]);
  },
);

test("a copy has them, and they stay with pictures that start late", async () => {
  const input = await clip("mp4", { seconds: 2 });
  const copied = await runWith([SRT], input, { mode: "copy" }, { encoder: createCopyEncoder() });
  expect(await readCues(copied, 0)).toEqual(CUES);
  const late = await makeClip("mkv", ["-i", input, "-c", "copy", "-output_ts_offset", "10"]);
  for (const options of [{ format: "webm", width: 80 }, { mode: "copy" }]) {
    const changes = "mode" in options ? { encoder: createCopyEncoder() } : {};
    const [first = ""] = await readCues(await runWith([SRT], late, options, changes), 0);
    expect(Number(first.split(" ")[0])).toBeCloseTo(0.5, 1);
  }
});

test("ASS and SRT are read as ffmpeg reads them", async () => {
  const ass = await promisify(execFile)("ffmpeg", [
    ...["-v", "error", "-i", await captionedVideo("mkv"), "-map", "0:s:1", "-f", "ass", "-"],
  ]);
  const path = await runWith([ass.stdout], await clip("mp4", { seconds: 2 }), { format: "webm", width: 80 });
  const lines = await readCues(path, 0);
  expect(lines.map((line) => line.split(" ").slice(2).join(" "))).toEqual([
    "<i>Kursiv</i>, und/zwei",
    "Overlap, late",
  ]);
});

test("text past what an output may hold is an error, and a size includes it", async () => {
  const { filesize, bitrate, streams, ...source } = (await probeFile(await clip("mp4", { seconds: 2 })))
    .source;
  const crowd = `WEBVTT\n\n${"00:00.000 --> 00:01.000\na\n\n".repeat(200_001)}`;
  const failed = runWith([crowd], await clip("mp4", { seconds: 2 }), { width: 80 });
  await expect(failed).rejects.toMatchObject({ kind: "input_too_large", retryable: false });
  const rate = (extra?: Source[]) => {
    const options = { target_size: 400_000, subtitles: [{ url }] };
    const { video } = createPlan(source, "video", options, { extra });
    return video?.mode === "encode" && "bitrate" in video.rate ? video.rate.bitrate : 0;
  };
  const file = { object: "source", url, kind: "data", format: "webvtt", filesize: 100_000 } as const;
  expect(rate([file])).toBeLessThan(rate() - 300_000);
  const before = rate();
  source.chapters = Array.from({ length: 100 }, () => ({ start: 0, end: 2, title: "語".repeat(255) }));
  expect(rate()).toBeLessThan(before - 200_000);
});

// 60 kB of text in two seconds; mkvmerge states the bitrate.
test.for([
  { extension: "mp4", codec: ["-c:s", "mov_text"] },
  { extension: "mkv", codec: ["-c:s", "srt", "-metadata:s:s:0", "BPS=240000"] },
] as const)("a size includes the text tracks of its source: $extension", async ({ extension, codec }) => {
  const cues = Array.from(
    { length: 20 },
    (_, at) => `${at + 1}\n00:00:01,${at + 10}0 --> 00:00:01,${at + 11}0\n${"a".repeat(3000)}\n`,
  );
  const text = `data:text/plain;base64,${btoa(cues.join("\n"))}`;
  const input = await makeClip(extension, [
    ...["-i", await clip("mp4", { seconds: 2 }), "-f", "srt", "-i", text],
    ...["-map", "0:v", "-map", "1", "-c:v", "copy", ...codec],
  ]);
  const { source, fell_back } = await probeFile(input);
  expect(fell_back).toBe(false);
  if (extension === "mp4") {
    const reader = await diskReader(input);
    const { size } = reader;
    const index = await diskReader(input);
    await readMovieIndex(index);
    const reading = { signal: AbortSignal.timeout(10_000), onWait: () => {}, until: 10_000, rebased: true };
    expect((await readMp4Cues(reader, [1], reading)).get(1)).toHaveLength(20);
    // Neighbors are read together, and nothing else.
    expect(reader.reads() - index.reads()).toBeLessThan(4);
    expect(reader.bytes()).toBeLessThan(size + index.bytes());
  }
  const path = await runWith([], input, { target_size: 150_000 });
  expect(source.streams?.at(-1)?.bitrate).toBeGreaterThan(200_000);
  expect((await stat(path)).size).toBeLessThan(150_000);
  expect((await stat(path)).size).toBeGreaterThan(75_000);
});

test("the pass that adds them says that it goes on", async () => {
  const { signal } = new AbortController();
  let waits = 0;
  const onWait = () => {
    waits++;
  };
  const body = editFile(memoryReader([new Uint8Array(3 * MIB + 1)]), [], { signal, onWait });
  expect(await readAll(body)).toHaveLength(3 * MIB + 1);
  expect(waits).toBe(4);
});

test.for([
  {
    tracks: [{}, { language: "pt-BR" }, {}],
    names: ["Track 1", "português (Brasil)", "Track 3"],
  },
  {
    tracks: [{ title: "A" }, { title: "A" }, { title: "A 2" }, { title: '"A' }],
    names: ["A", "A 2", "A 2 2", "A 3"],
  },
  {
    tracks: [{ title: '"\n', language: "en" }, { title: "\u0007\u2028\uffff" }],
    names: ["English", "Track 2"],
  },
] as const)("tracks $tracks have names of their own", ({ tracks, names }) => {
  expect(nameTracks(tracks)).toEqual(names);
});
