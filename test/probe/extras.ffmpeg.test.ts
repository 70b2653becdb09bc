import { readFile, stat, writeFile } from "node:fs/promises";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { readChapters } from "../../src/media/chapters.ts";
import { dropped } from "../../src/media/dropped.ts";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import type { Source } from "../../src/media/source.ts";
import { readId3 } from "../../src/probe/mp3.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import { alsClip, alsPcm } from "../fixtures/als.ts";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { ID3_KINDS, id3Sound } from "../judge/id3.ts";
import { runNative } from "../judge/native.ts";
import { m4aOfGenreNumber } from "../judge/several.ts";
import { chapteredSound, crowdedVideo, lateVideo, taggedSound, taggedVideo, WORK } from "../judge/tags.ts";
import { bytesReader, nativeFfprobe, probeFile } from "./probe-file.ts";

const CLIPS = {
  flac: () => taggedSound("flac"),
  mp3: () => taggedSound("mp3"),
  m4a: () => taggedSound("m4a"),
  ogg: () => taggedSound("ogg"),
  wav: () => taggedSound("wav"),
  mp4: () => taggedVideo("mp4"),
  mov: () => taggedVideo("mov"),
  webm: () => taggedVideo("webm"),
  mkv: () => taggedVideo("mkv"),
  "crowded mp4": () => crowdedVideo("mp4"),
  "crowded mkv": () => crowdedVideo("mkv"),
  "crowded late mkv": () => lateVideo(),
  "chaptered mp3": () => chapteredSound("mp3"),
  "chaptered flac": () => chapteredSound("flac"),
  "chaptered ogg": () => chapteredSound("ogg"),
  "chaptered m4a": () => chapteredSound("m4a"),
} as const;

const extras = ({ tags, chapters, streams, audio }: Source) => ({
  tags,
  chapters,
  channels: audio?.channels,
  streams: streams?.map(({ index, kind, codec }) => [index, kind, codec]),
});

// No comparison with ffprobe 5.1 here: of the second it reads only the first tag, and of the first bytes that are not UTF-8.
test.for(ID3_KINDS)("reads the tags and covers of an MP3 with %s", async (kind) => {
  const { source, fell_back } = await probeFile(await id3Sound(kind));
  expect(fell_back).toBe(false);
  const { location: _, make: __, model: ___, creation_time: ____, ...work } = source.tags ?? {};
  expect(work).toEqual(kind === "ID3v1" ? { ...WORK, track: "3", date: "2020" } : WORK);
  const cover = { ID3v1: [], "unsynchronised ID3v2.3": [null], "unsynchronised ID3v2.4": ["mjpeg"] }[kind];
  expect(source.streams?.slice(1)).toEqual(cover.map((codec) => ({ index: 1, kind: "cover", codec })));
});

test.for(Object.entries(CLIPS))(
  "reads the same tags, chapters and streams from the headers of %s as ffprobe",
  async ([name, clip]) => {
    const path = await clip();
    const { source, fell_back } = await probeFile(path);
    expect(fell_back).toBe(false);
    const report = await nativeFfprobe(path)(
      { size: 0, read: async () => new Uint8Array() },
      AbortSignal.any([]),
    );
    const expected = parseFfprobe(report, { url: source.url, filesize: (await stat(path)).size });
    expect(extras(source)).toEqual(extras(expected));
    expect(source.chapters?.length).toBe(/^(crowded|chaptered)/.test(name) ? 2 : undefined);
  },
);

const NERO = [
  { start: 0, end: 1, title: "Dawn" },
  { start: 1, end: 3, title: "Zwölf Uhr" },
];

// The track of titles is the last one, and its tables come before the file's own list.
test.for([
  { name: "samples beyond the file", box: "stco", at: 8, value: 0xffffff00, expected: NERO },
  { name: "titles of gigabytes", box: "stsz", at: 12, value: 0xf0000000, expected: NERO },
  { name: "titles that last for years", box: "stts", at: 12, value: 0xffffffff, expected: undefined },
  { name: "a list longer than its box", box: "chpl", at: 8, value: 0xffffffff, expected: NERO },
] as const)("reads a bounded list, or none, of chapters with $name", async ({ box, at, value, expected }) => {
  const bytes = new Uint8Array(await readFile(await crowdedVideo("mp4")));
  const text = Buffer.from(bytes.buffer);
  new DataView(bytes.buffer).setUint32(text.lastIndexOf(box) + 4 + at, value);
  const noProbe = () => Promise.reject(new Error("The headers are enough."));
  const signal = AbortSignal.timeout(10_000);
  const source = await probeMedia(bytesReader(bytes), { url: "https://example.com/file" }, noProbe, signal);
  if (expected) expect(source.chapters).toEqual(expected);
  expect(JSON.stringify(source.chapters).length).toBeLessThan(1000);
});

test("lists chapters of an MP4 that cannot be read as dropped", async () => {
  const bytes = await readFile(await crowdedVideo("mp4"));
  bytes.write("free", bytes.lastIndexOf("chpl"));
  bytes.writeUInt32BE(0xffffff00, bytes.lastIndexOf("stco") + 12);
  const noProbe = () => Promise.reject(new Error("The headers are enough."));
  const signal = AbortSignal.timeout(10_000);
  const source = await probeMedia(bytesReader(bytes), { url: "https://example.com/file" }, noProbe, signal);
  expect(source.chapters).toBeUndefined();
  expect(dropped("video", {}, source)).toContainEqual({ kind: "data", index: 4, reason: "not_supported" });
});

test("reads the titles of chapters that lie far apart in an MP4", async () => {
  const bytes = await readFile(await crowdedVideo("mp4"));
  bytes.write("free", bytes.lastIndexOf("chpl"));
  const [sizes, places] = ["stsz", "stco"].map((table) => bytes.lastIndexOf(table) + 4);
  const [first, far] = [bytes.readUInt32BE((places ?? 0) + 8), 300_000];
  const long = bytes.readUInt32BE((sizes ?? 0) + 12);
  const file = Buffer.alloc(Math.max(bytes.length, first + far + 1000));
  bytes.copy(file);
  file.writeUInt32BE(far, (sizes ?? 0) + 12);
  bytes.copy(file, first + far, first + long, first + long + 20);
  const noProbe = () => Promise.reject(new Error("The headers are enough."));
  const signal = AbortSignal.timeout(10_000);
  const source = await probeMedia(bytesReader(file), { url: "https://example.com/file" }, noProbe, signal);
  expect(source.chapters).toEqual(NERO);
});

test("reads chapters of an MP3 with pictures and other texts, and the frames after all of them", async () => {
  const frame = (name: string, size: number, content: Buffer) => {
    const head = Buffer.alloc(10);
    head.write(name);
    head.writeUInt32BE(size, 4);
    return Buffer.concat([head, content]);
  };
  const text = (name: string, value: string) => frame(name, value.length + 1, Buffer.from(`\0${value}`));
  const chapters = Array.from({ length: 255 }, (_, at) => {
    const times = Buffer.alloc(16, 0xff);
    times.writeUInt32BE(at * 1000, 0);
    times.writeUInt32BE(at * 1000 + 1000, 4);
    const inside = [
      text("TIT3", "beside"),
      text("TIT2", "Part"),
      frame("APIC", 20_000, Buffer.alloc(20_000)),
    ];
    const content = Buffer.concat([Buffer.from(`ch${at}\0`), times, ...(at < 2 ? inside : [])]);
    return frame("CHAP", content.length, content);
  });
  const body = Buffer.concat([...chapters, text("TALB", "Album"), text("TIT2", "All")]);
  const head = Buffer.from([
    0x49,
    0x44,
    0x33,
    3,
    0,
    0,
    ...[21, 14, 7, 0].map((by) => (body.length >> by) & 0x7f),
  ]);
  const id3 = await readId3(bytesReader(Buffer.concat([head, body])));
  expect(id3.chapters).toHaveLength(255);
  expect(id3.chapters.slice(0, 3)).toEqual([
    { start: 0, end: 1, title: "Part" },
    { start: 1, end: 2, title: "Part" },
    { start: 2, end: 3, title: "" },
  ]);
  expect(id3.tags).toEqual([
    ["TALB", "Album"],
    ["TIT2", "All"],
  ]);
});

test("compressed texts of an ID3 tag are read, unless they expand to megabytes", async () => {
  const sevenBits = (value: number) => [21, 14, 7, 0].map((by) => (value >> by) & 0x7f);
  const frame = (name: string, text: Buffer) => {
    const data = deflateSync(text);
    return Buffer.concat([
      Buffer.from(name),
      Buffer.from([...sevenBits(data.length + 4), 0, 9, ...sevenBits(text.length)]),
      data,
    ]);
  };
  const frames = Buffer.concat([
    frame("TIT2", Buffer.from("\u0003Title")),
    frame("TALB", Buffer.alloc(2 ** 24)),
  ]);
  const head = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, ...sevenBits(frames.length)]);
  const { tags } = await readId3(bytesReader(Buffer.concat([head, frames, Buffer.alloc(64)])));
  expect(tags).toEqual([["TIT2", "Title"]]);
});

test("chapters have times that JSON can hold", () => {
  const chapters = [0, 1e300, Number.POSITIVE_INFINITY].map((start) => ({
    start,
    end: Number.POSITIVE_INFINITY,
  }));
  expect(
    readChapters(
      chapters.map((each) => ({ ...each, title: "" })),
      2,
    ),
  ).toEqual([{ start: 0, end: 10_000_000, title: "" }]);
});

// iTunes 12.1 writes such tags; its comments there are numbers without the names of their uses.
test("reads the texts of an ID3v2.3 tag whose frames have names of version 2.2", async () => {
  const sound = await readFile(await makeClip("mp3", [...SINE, "-id3v2_version", "0", "-write_xing", "0"]));
  const texts = { TP1: "Artist", TT2: "Title", COM: "eng\0 0000", TP2: "Band", TAL: "Album" };
  const frames = Object.entries(texts).map(([name, text]) =>
    Buffer.from([...Buffer.from(name), 0, 0, 0, 0, text.length + 1, 0, 0, 0, ...Buffer.from(text)]),
  );
  const body = Buffer.concat([...frames, Buffer.alloc(10)]);
  const file = Buffer.concat([
    Buffer.from([...Buffer.from("ID3"), 3, 0, 0, 0, 0, 0, body.length]),
    body,
    sound,
  ]);
  const path = await keepClip("mp3", "ID3v2.3 of frames of 2.2", (at) => writeFile(at, file));
  const { source, fell_back } = await probeFile(path);
  expect(fell_back).toBe(false);
  expect(source.tags).toEqual({ artist: "Artist", title: "Title", album_artist: "Band", album: "Album" });
});

const BROADCAST = {
  description: "Scene 3",
  originator: "Recorder",
  origination_date: "2017-01-16",
  origination_time: "18:13:42",
};

test.for([
  { name: "before the sound", after: false, info: {}, date: "2017-01-16" },
  { name: "after the sound", after: true, info: {}, date: "2017-01-16" },
  { name: "beside a date of the INFO list", after: false, info: { date: "2016" }, date: "2016" },
])("reads the broadcast extension of a WAV $name", async ({ name, after, info, date }) => {
  const metadata = Object.entries({ ...BROADCAST, ...info }).flatMap((entry) => [
    "-metadata",
    entry.join("="),
  ]);
  const clip = await makeClip("wav", [...SINE, ...metadata, "-write_bext", "1"]);
  const path = await keepClip("wav", `broadcast ${name}`, async (at) => {
    const file = await readFile(clip);
    const start = file.indexOf("bext");
    const end = start + 8 + file.readUInt32LE(start + 4);
    const [head, chunk, rest] = [file.subarray(0, start), file.subarray(start, end), file.subarray(end)];
    await writeFile(at, Buffer.concat(after ? [head, rest, chunk] : [head, chunk, rest]));
  });
  const { source, fell_back } = await probeFile(path);
  expect(fell_back).toBe(false);
  expect(source.tags).toMatchObject({ description: "Scene 3", encoded_by: "Recorder", date });
});

const SINE = ["-f", "lavfi", "-i", "sine=440:d=1:r=44100"];

test("reads the number of a genre in an MP4", async () => {
  const bytes = await readFile(await m4aOfGenreNumber());
  const noProbe = () => Promise.reject(new Error("The headers are enough."));
  const signal = AbortSignal.timeout(10_000);
  const input = { url: "https://example.com/file" };
  const { tags } = await probeMedia(bytesReader(new Uint8Array(bytes)), input, noProbe, signal);
  expect(tags).toEqual({ genre: "Ska", compilation: "1" });
});

test("names layer II after an ID3 tag as ffprobe does", async () => {
  const sound = await readFile(await makeClip("mp2", SINE));
  const tag = Buffer.from([...Buffer.from("ID3"), 4, 0, 0, 0, 0, 0, 10, ...new Uint8Array(10)]);
  const path = await keepClip("mp3", "layer II after ID3", (file) =>
    writeFile(file, Buffer.concat([tag, sound])),
  );
  const { source } = await probeFile(path);
  expect(source.codecs).toEqual({ video: null, audio: "mp2" });
});

test.for([16, 24] as const)("names MPEG-4 ALS of %i bits in an MP4 as ffprobe does", async (depth) => {
  const path = await alsClip(depth);
  const { output } = await runNative(["-i", path, "-f", `s${depth}le`, "-"]);
  expect(output.equals(alsPcm(depth))).toBe(true);
  const { source } = await probeFile(path);
  expect(source).toMatchObject({
    kind: "audio",
    format: "mp4",
    duration: 1.024,
    codecs: { video: null, audio: "mp4als" },
    audio: { channels: 2, sample_rate: 48_000, ...(depth === 24 && { bit_depth: 24 }) },
    streams: [{ index: 0, kind: "audio", codec: "mp4als" }],
  });
});

test("tags of the only track of a Matroska are those of the file, except measurements", async () => {
  const tone = ["-f", "lavfi", "-i", "sine=duration=0.5"];
  const tags = ["-metadata", "title=File", "-metadata:s:a:0", "title=Track", "-metadata:s:a:0", "artist=Ada"];
  const tagsOf = async (path: string) => (await probeFile(path)).source.tags;
  const one = await makeClip("mka", [...tone, "-c:a", "libvorbis", ...tags]);
  const two = await makeClip("mka", [
    ...tone,
    ...tone,
    "-map",
    "0",
    "-map",
    "1",
    "-c:a",
    "libvorbis",
    ...tags,
  ]);
  expect(await tagsOf(one)).toMatchObject({ title: "File", artist: "Ada" });
  expect(Object.keys((await tagsOf(one)) ?? {})).not.toContain("duration");
  expect(await tagsOf(two)).not.toHaveProperty("artist");
});

test.for([
  { extension: "mkv", metadata: "keep", reasons: ["not_supported"] },
  { extension: "mkv", metadata: "clean", reasons: ["not_supported", "private"] },
  { extension: "mkv", metadata: "strip", reasons: ["asked"] },
  { extension: "nut", metadata: "clean", reasons: ["not_supported", "private"] },
] as const)(
  "with metadata $metadata, the tags of one of several tracks of a $extension are dropped as $reasons",
  async ({ extension, metadata, reasons }) => {
    const tags = "title=Film artist=Ada location=Paris NUMBER_OF_FRAMES-eng=9 language=deu".split(" ");
    const path = await makeClip(extension, [
      ..."-f lavfi -i testsrc2=s=64x48:d=0.4 -f lavfi -i sine=d=0.4 -f lavfi -i sine=d=0.4".split(" "),
      ..."-map 0 -map 1 -map 2 -c:v mpeg4 -c:a aac -metadata:s:a:1 artist=Ben".split(" "),
      ...tags.flatMap((tag) => ["-metadata:s:a:0", tag]),
    ]);
    const { source } = await probeFile(path);
    expect(source.streams?.map(({ tag_names }) => tag_names)).toEqual([
      undefined,
      ["title", "artist", "location"],
      ["artist"],
    ]);
    const lost = dropped("video", { metadata }, source).filter(({ kind }) => kind === "tags");
    expect(lost).toEqual(reasons.map((reason) => ({ kind: "tags", index: 1, language: "deu", reason })));
  },
);
