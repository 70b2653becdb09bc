import { readFile, stat } from "node:fs/promises";
import { expect, test } from "vitest";
import type { Source } from "../../src/core/source.ts";
import { parseFfprobe } from "../../src/ffmpeg/parse-ffprobe.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import { ID3_KINDS, id3Sound } from "../judge/id3.ts";
import { chapteredSound, crowdedVideo, taggedSound, taggedVideo, WORK } from "../judge/tags.ts";
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
  "chaptered mp3": () => chapteredSound("mp3"),
  "chaptered flac": () => chapteredSound("flac"),
  "chaptered ogg": () => chapteredSound("ogg"),
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
  async ([, clip]) => {
    const path = await clip();
    const { source, fell_back } = await probeFile(path);
    expect(fell_back).toBe(false);
    const report = await nativeFfprobe(path)(
      { size: 0, read: async () => new Uint8Array() },
      AbortSignal.any([]),
    );
    const wanted = parseFfprobe(report, { url: source.url, filesize: (await stat(path)).size });
    expect(extras(source)).toEqual(extras(wanted));
  },
);

const NERO = [
  { start: 0, end: 1, title: "Dawn" },
  { start: 1, end: 3, title: "Zwölf Uhr" },
];

// The track of titles is the last one, and its tables come before the file's own list.
test.for([
  ["samples beyond the file", "stco", 8, 0xffffff00, NERO],
  ["titles of gigabytes", "stsz", 12, 0xf0000000, NERO],
  ["titles that last for years", "stts", 12, 0xffffffff, undefined],
  ["a list longer than its box", "chpl", 8, 0xffffffff, NERO],
] as const)("reads a bounded list, or none, of chapters with %s", async ([, box, at, value, wanted]) => {
  const bytes = new Uint8Array(await readFile(await crowdedVideo("mp4")));
  const text = Buffer.from(bytes.buffer);
  new DataView(bytes.buffer).setUint32(text.lastIndexOf(box) + 4 + at, value);
  const noProbe = () => Promise.reject(new Error("The headers are enough."));
  const signal = AbortSignal.timeout(10_000);
  const source = await probeMedia(bytesReader(bytes), { url: "https://example.com/file" }, noProbe, signal);
  if (wanted) expect(source.chapters).toEqual(wanted);
  expect(JSON.stringify(source.chapters).length).toBeLessThan(1000);
});
