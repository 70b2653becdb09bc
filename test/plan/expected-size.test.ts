import { expect, test } from "vitest";
import { expectsLarger } from "../../src/media/forecast.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { Source } from "../../src/media/source.ts";
import { audioSource, imageSource, videoSource } from "./source.ts";

const streams = (codecs: readonly [video: string | null, audio: string], bits: number, sound: number) => ({
  codecs: { video: codecs[0], audio: codecs[1] },
  streams: [
    ...(codecs[0] ? [{ index: 0, kind: "video" as const, codec: codecs[0], bitrate: bits }] : []),
    { index: 1, kind: "audio" as const, codec: codecs[1], bitrate: sound },
  ],
  filesize: Math.round(((bits + sound) * 10) / 8),
});
const SMALL_VP9 = videoSource({ format: "webm", ...streams(["vp9", "opus"], 800_000, 64_000) });
const CAMERA = videoSource({ ...streams(["h264", "aac"], 50_000_000, 192_000) });
const sound = (format: string, codec: string, bits: number) =>
  audioSource({ format, ...streams([null, codec], 0, bits) });
const JPEG = { format: "jpeg", width: 1000, height: 1000, coded_width: 1000, coded_height: 1000 };
const photo = (filesize: number) => imageSource({ ...JPEG, filesize });
const GIF = imageSource({ format: "gif", animated: true, duration: 2, fps: 10, filesize: 50_000 });

const ROWS: readonly { name: string; kind: EncodeKind; options: object; source: Source; larger: boolean }[] =
  [
    { name: "a small VP9 as MP4", kind: "video", options: {}, source: SMALL_VP9, larger: true },
    {
      name: "a small VP9 with alpha as MP4, which holds none",
      kind: "video",
      options: {},
      source: { ...SMALL_VP9, has_alpha: true },
      larger: false,
    },
    {
      name: "a small VP9, copied",
      kind: "video",
      options: { format: "webm", codec: "vp9" },
      source: SMALL_VP9,
      larger: false,
    },
    { name: "a camera's film", kind: "video", options: { quality: "medium" }, source: CAMERA, larger: false },
    { name: "a copied MP4", kind: "video", options: {}, source: CAMERA, larger: false },
    {
      name: "a copy in a larger container",
      kind: "video",
      options: {},
      source: { ...CAMERA, format: "matroska" },
      larger: true,
    },
    { name: "an enlarged film", kind: "video", options: { width: 3840 }, source: SMALL_VP9, larger: false },
    {
      name: "a bitrate above the source's",
      kind: "video",
      options: { bitrate: 2_000_000 },
      source: SMALL_VP9,
      larger: true,
    },
    {
      name: "an MP3, copied",
      kind: "audio",
      options: { format: "mp3" },
      source: sound("mp3", "mp3", 64_000),
      larger: false,
    },
    {
      name: "an MP3 of a higher bitrate",
      kind: "audio",
      options: { format: "mp3", quality: "medium" },
      source: sound("mp3", "mp3", 64_000),
      larger: true,
    },
    {
      name: "AAC as MP3",
      kind: "audio",
      options: { format: "mp3" },
      source: sound("mp4", "aac", 64_000),
      larger: true,
    },
    {
      name: "an MP3 as FLAC",
      kind: "audio",
      options: { format: "flac" },
      source: sound("mp3", "mp3", 128_000),
      larger: true,
    },
    {
      name: "a WAV as FLAC",
      kind: "audio",
      options: { format: "flac" },
      source: sound("wav", "pcm_s16le", 1_411_200),
      larger: false,
    },
    {
      name: "the sound of a film",
      kind: "audio",
      options: { format: "mp3" },
      source: SMALL_VP9,
      larger: false,
    },
    { name: "a small JPEG", kind: "image", options: {}, source: photo(80_000), larger: true },
    {
      name: "a small WebP with alpha as JPEG",
      kind: "image",
      options: { format: "jpeg" },
      source: { ...photo(80_000), format: "webp", has_alpha: true },
      larger: false,
    },
    { name: "a camera's JPEG", kind: "image", options: {}, source: photo(600_000), larger: false },
    {
      name: "a small JPEG as a smaller WebP",
      kind: "image",
      options: { format: "webp", width: 320 },
      source: photo(80_000),
      larger: false,
    },
    { name: "a GIF as it is", kind: "image", options: {}, source: GIF, larger: true },
    { name: "a smaller GIF", kind: "animation", options: { width: 100 }, source: GIF, larger: false },
  ];

test.for(ROWS)("$name is expected to be larger: $larger", ({ kind, options, source, larger }) => {
  expect(expectsLarger(kind, options as never, source)).toBe(larger);
});

test("a source of unknown size gets no expectation", () => {
  const { filesize: _, ...source } = SMALL_VP9;
  expect(expectsLarger("video", {}, source)).toBe(false);
});
