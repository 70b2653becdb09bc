import { readFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { createCopyEncoder } from "../../src/encoders/copy.ts";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { readSubtitles, writeStreamTexts } from "../../src/encoders/run/subtitles.ts";
import { writeTextGroup, writeTextSets } from "../../src/media/ffmpeg/manifests.ts";
import { textSamples, writeTextTrak } from "../../src/mux/mp4-text.ts";
import { element, uint } from "../../src/mux/webm-text.ts";
import { memoryReader } from "../../src/probe/reader.ts";
import { readMatroskaCues } from "../../src/subtitles/matroska-text.ts";
import { concatBytes } from "../../src/util/bytes.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { runProgram } from "../fixtures/native-program.ts";
import { captionedVideo, readCues } from "../judge/cues.ts";
import { chapteredSound, crowdedVideo, lateVideo, readChapters } from "../judge/tags.ts";
import { probeFile } from "../probe/probe-file.ts";
import { fetchStored, type Trial, trial } from "./encode-trial.ts";

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
  for (const partKey of trial.storage.keys.slice(0, -1)) expect(await trial.storage.head(partKey)).toBeNull();
  return fetchStored(trial.storage, key);
}

// Packets of pictures and sound with their times, and the first pictures after a seek.
async function packetsOf(path: string): Promise<string> {
  const hash = ["-map", "0:v", "-map", "0:a", "-c", "copy", "-f", "framehash", "-"];
  const { stdout } = await runProgram("ffmpeg", ["-v", "error", "-i", path, ...hash], 60_000);
  const seek = ["-read_intervals", "3%+#1", "-select_streams", "v", "-show_entries", "packet=pts,size", path];
  return (
    stdout.toString() + (await runProgram("ffprobe", ["-v", "error", ...seek], 60_000)).stdout.toString()
  );
}

test.for([
  { format: "mp4", codec: "mov_text", ass: CUES.flat },
  { format: "mov", codec: "mov_text", ass: CUES.flat },
  { format: "webm", codec: "webvtt", ass: CUES.ass },
] as const)("$format holds the text tracks of a Matroska file as $codec", async ({ format, codec, ass }) => {
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
    // The pictures of the source start at 0.021 s, which moves its cues away from whole numbers. A cue ends with the output: the
    // change of tempo drops 4 ms of this noise from an MP4, whose sound lasts longer than its pictures.
    expect(await readCues(path, 0)).toEqual([
      "0.000 0.261 Hello <i>it</i> & <b>bo</b>",
      "0.261 0.572 Two/lines äöü 😀",
      format === "mp4" ? "1.011 1.246 red" : "1.011 1.250 red",
    ]);
  },
);

test.for(["mp4", "webm"] as const)(
  "stitched chunks keep text and chapters of a faster part: %s",
  async (format) => {
    const options = { format, width: 80, start: 0.5, speed: 2 };
    const path = await outputOf(
      await trial(await crowdedVideo("mkv"), "video", options, { hints: { chunk_seconds: 1 } }),
    );
    expect(await readChapters(path)).toEqual(["0.000 to 0.3 Dawn", "0.250 to 1.3 Zwölf Uhr"]);
    expect(await readCues(path, 0)).toHaveLength(1);
  },
);

test("chapters of an MP3 with long titles are read by others", async () => {
  const run = await trial(await chapteredSound("flac"), "audio", { format: "mp3" });
  const chapters = run.source.chapters?.map((each) => ({ ...each, title: "語".repeat(255) }));
  const path = await outputOf({ ...run, source: { ...run.source, chapters } });
  const title = "語".repeat(42);
  expect(await readChapters(path)).toEqual([`0.000 to 1.0 ${title}`, `1.000 to 3.0 ${title}`]);
  // Some players list only the chapters of a table of contents: its name, two flags, and the names of the chapters.
  const bytes = await readFile(path);
  const table = bytes.indexOf("CTOC");
  expect(table).toBeGreaterThan(0);
  expect(bytes.readUInt32BE(table + 4)).toBe(14);
  expect(bytes.toString("latin1", table + 10, table + 24)).toBe("toc\0\x03\x02ch0\0ch1\0");
});

test("timed text of an MP4 becomes WebVTT, and is copied with the rest", async () => {
  const input = await captionedVideo("mp4");
  const webm = await outputOf(await trial(input, "video", { format: "webm", width: 80 }));
  expect(await readCues(webm, 0)).toEqual(CUES.subrip);
  const copied = await outputOf(await trial(input, "video", {}, { encoder: createCopyEncoder() }));
  expect(await readCues(copied, 0)).toEqual(CUES.subrip);
});

const READING = { signal: new AbortController().signal, onWait: () => {}, rebased: true };

function matroska(tracks: Uint8Array[], clusters: Uint8Array[]) {
  const segment = element(0x18538067, element(0x1654ae6b, ...tracks), ...clusters);
  return memoryReader([concatBytes([element(0x1a45dfa3), segment])]);
}

// A track of SubRip, and one of its cues.
const textTrack = (number: number) =>
  element(
    0xae,
    uint(0xd7, number, 1),
    uint(0x83, 17, 1),
    element(0x86, new TextEncoder().encode("S_TEXT/UTF8")),
  );
const textBlock = (number: number, text: string, lasts: number) =>
  element(
    0xa0,
    element(0xa1, Uint8Array.of(0x80 + number, 0, 0, 0), new TextEncoder().encode(text)),
    uint(0x9b, lasts, 4),
  );
const clusterAt = (time: number, ...blocks: Uint8Array[]) => element(0x1f43b675, uint(0xe7, time), ...blocks);

test("a track past what is read is lost, and the others are kept", async () => {
  const large = textBlock(1, "a".repeat(1_000_000), 1000);
  const clusters = Array.from({ length: 17 }, (_, at) =>
    clusterAt(at * 1000, large, textBlock(2, "Hi", 500)),
  );
  const huge = clusterAt(17_000, textBlock(3, "b".repeat(1_100_000), 1000));
  const file = matroska([1, 2, 3].map(textTrack), [...clusters, huge]);
  const cues = await readMatroskaCues(file, [0, 1, 2], { ...READING, until: Number.POSITIVE_INFINITY });
  expect([...cues.keys()]).toEqual([1]);
  expect(cues.get(1)?.length).toBe(17);
  // Nothing is read past the end of the output, though blocks may come before their cluster.
  const early = await readMatroskaCues(file, [1, 2], { ...READING, until: -20_000 });
  expect([...early].map(([stream, cues]) => [stream, cues.length])).toEqual([
    [1, 13],
    [2, 0],
  ]);
});

test("text of no stated length is shown until the next, and for ten seconds at most", async () => {
  const block = (text: string) => element(0xa1, Uint8Array.of(0x81, 0, 0, 0), new TextEncoder().encode(text));
  const simple = element(0xa3, Uint8Array.of(0x81, 0, 0, 0), new TextEncoder().encode("simple"));
  const file = matroska(
    [textTrack(1)],
    [
      clusterAt(0, element(0xa0, block("one")), element(0xa0, block("beside"))),
      clusterAt(2000, simple),
      clusterAt(3000, textBlock(1, "timed", 500)),
      clusterAt(4000, element(0xa0, block("last"))),
    ],
  );
  const cues = await readMatroskaCues(file, [0], { ...READING, until: Number.POSITIVE_INFINITY });
  expect(cues.get(0)?.map(({ start, end, text }) => [start, end, text])).toEqual([
    [0, 2000, "one"],
    [0, 2000, "beside"],
    [2000, 3000, "simple"],
    [3000, 3500, "timed"],
    [4000, 14_000, "last"],
  ]);
});

test.for([
  { count: 40, lost: 0 },
  { count: 2000, lost: 1 },
] as const)(
  "$count texts shown at once are all kept in MP4, or lost with notice: $lost",
  async ({ count, lost }) => {
    const blocks = Array.from({ length: count }, (_, at) => textBlock(1, `${at} ${"ä".repeat(20)}`, 1000));
    const { plan, source } = await trial(await captionedVideo("mp4"), "video", { format: "mp4" });
    const subtitles = await readSubtitles(
      {
        plan: { ...plan, subtitles: [{ stream: 0 }] },
        source: { ...source, format: "matroska" },
        ...READING,
      },
      matroska([textTrack(1)], [clusterAt(0, ...blocks)]),
    );
    expect(subtitles.lost.length).toBe(lost);
    const [track] = subtitles.tracks;
    if (!track) return;
    const [bytes] = textSamples(track, 1000).bytes;
    const lines = new TextDecoder().decode(bytes?.subarray(2)).split("\n");
    expect(lines.map((line) => Number.parseInt(line, 10))).toEqual(blocks.map((_, at) => at));
  },
);

test.for([
  { kind: "adaptive_video", lost: [0] },
  { kind: "video", lost: [] },
] as const)("text that would fill $kind many times over is lost: $lost", async ({ kind, lost }) => {
  const file = matroska(
    [textTrack(1), textTrack(2)],
    [clusterAt(0, textBlock(1, "a".repeat(60_000), 21_600_000), textBlock(2, "Hi", 500))],
  );
  const { plan, source } = await trial(await captionedVideo("mp4"), "video", { format: "webm" });
  const whole = { ...plan, kind, duration: 21_600, end: 21_600, subtitles: [{ stream: 0 }, { stream: 1 }] };
  const subtitles = await readSubtitles(
    { plan: whole, source: { ...source, format: "matroska" }, ...READING },
    file,
  );
  expect(subtitles.lost).toEqual(lost);
  expect(subtitles.tracks.at(-1)?.cues).toMatchObject([{ text: "Hi" }]);
});

test("an index of more samples than a call has arguments is written", () => {
  const cues = Array.from({ length: 150_000 }, (_, at) => ({
    ...{ start: at * 10, end: at * 10 + 5, text: "a", settings: "" },
  }));
  const track = { cues };
  const samples = textSamples(track, 1_500_000);
  expect(samples.sizes.length).toBe(300_000);
  const trak = writeTextTrak({ id: 3, track, samples, offset: 2 ** 33, movie: 1000, quicktime: false });
  expect(trak.reduce((sum, { length }) => sum + length, 0)).toBeGreaterThan(300_000 * 12);
});

test("streams of many long tracks have few segments, and playlists quote no language that is none", () => {
  const [cues, language] = [[], 'de"\n#EXT-X-ENDLIST'];
  const tracks = Array.from({ length: 40 }, () => ({ cues, language }));
  const { texts } = writeStreamTexts(tracks, { seconds: 21_600, periods: [] });
  const segments = texts.flatMap((text) => text.segments);
  expect(segments.length).toBeLessThanOrEqual(1040);
  expect(segments.reduce((sum, { seconds }) => sum + seconds, 0)).toBeCloseTo(40 * 21_600);
  expect(writeTextGroup(texts).join("\n")).not.toMatch(/LANGUAGE|ENDLIST/);
  const [set = ""] = writeTextSets([{ folder: "subtitles", name: "a\u0001<&", segments: [] }], 0).slice(1);
  expect(set.trim()).toBe("<Label>a&lt;&amp;</Label>");
});

test.for([
  { from: "mkv", options: { format: "webm", width: 80 }, changes: {} },
  { from: "mkv", options: { mode: "copy" }, changes: { encoder: createCopyEncoder() } },
  { from: "mkv", options: { mode: "copy" }, changes: {} },
  { from: "mp4", options: { width: 80 }, changes: {} },
  { from: "mp4", options: { mode: "copy" }, changes: { encoder: createCopyEncoder() } },
] as const)(
  "text and chapters stay with pictures that start late: $from $options",
  async ({ from, options, changes }) => {
    const path = await outputOf(await trial(await lateVideo(from), "video", options, changes));
    expect(await readCues(path, 0)).toEqual(["0.000 2.000 Hello"]);
    expect(await readChapters(path)).toEqual(["0.000 to 1.0 Dawn", "1.000 to 3.0 Zwölf Uhr"]);
  },
);

test("text between rare pictures is kept in WebM", async () => {
  const text = "1\n00:00:50,000 --> 00:00:55,000\nLate\n\n2\n00:02:50,000 --> 00:02:55,000\nLast\n";
  const input = await makeClip("mkv", [
    ...["-f", "lavfi", "-i", "testsrc2=s=64x48:r=1/60:d=180"],
    ...["-f", "srt", "-i", `data:text/plain;base64,${Buffer.from(text).toString("base64")}`],
    ..."-map 0 -map 1 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:s srt".split(" "),
  ]);
  const path = await outputOf(await trial(input, "video", { format: "webm", width: 32 }));
  expect(await readCues(path, 0)).toEqual(["50.000 55.000 Late", "170.000 175.000 Last"]);
});

const HELLO = new TextEncoder().encode("Hello");
const ALGORITHM = { zlib: 0, stripping: 3, bzip2: 1 } as const;

test.for([
  { name: "zlib", bytes: deflateSync(HELLO), text: "Hello" },
  { name: "stripping", bytes: HELLO.subarray(2), text: "Hello" },
  { name: "zlib", bytes: HELLO, text: null },
  { name: "bzip2", bytes: HELLO, text: undefined },
] as const)("reads the text of a block compressed by $name: %#", async ({ name, bytes, text }) => {
  const settings = name === "stripping" ? [element(0x4255, HELLO.subarray(0, 2))] : [];
  const compression = element(0x5034, uint(0x4254, ALGORITHM[name], 1), ...settings);
  const codec = element(0x86, new TextEncoder().encode("S_TEXT/UTF8"));
  const encodings = element(0x6d80, element(0x6240, compression));
  const track = element(0xae, uint(0xd7, 1, 1), uint(0x83, 17, 1), codec, encodings);
  const block = element(0xa1, Uint8Array.of(0x81, 0, 5, 0), bytes);
  const cluster = element(0x1f43b675, uint(0xe7, 100, 1), element(0xa0, block, uint(0x9b, 50, 1)));
  const file = matroska([track], [cluster, Uint8Array.of(0xff, 1, 2)]);
  const cues = await readMatroskaCues(file, [0], { ...READING, until: Number.POSITIVE_INFINITY });
  const cue = { start: 105, end: 155, text, settings: "" };
  expect(cues.get(0)).toEqual(text === undefined ? undefined : text === null ? [] : [cue]);
});
