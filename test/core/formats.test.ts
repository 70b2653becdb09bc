import { expect, test } from "vitest";
import {
  BOUNDS,
  DEFAULT_FORMAT,
  ENCODE_KINDS,
  FITS,
  FORMATS,
  INPUT_SCHEMES,
  QUALITIES,
  STEP_KINDS,
  VIDEO_CODECS,
} from "../../src/media/formats.ts";

test("the tables list the documented formats, codecs and bounds", () => {
  expect(ENCODE_KINDS).toEqual([
    "video",
    "audio",
    "image",
    "animation",
    "storyboard",
    "waveform",
    "adaptive_video",
  ]);
  expect(STEP_KINDS).toEqual(["probe", "ingest", ...ENCODE_KINDS, "upload"]);
  expect(Object.keys(FORMATS.video)).toEqual(["mp4", "webm", "mov"]);
  expect(Object.keys(FORMATS.audio)).toEqual(["mp3", "aac", "ogg", "opus", "wav", "flac"]);
  expect(Object.keys(FORMATS.image)).toEqual(["jpeg", "png", "webp", "gif", "avif"]);
  expect(Object.keys(FORMATS.animation)).toEqual(["gif", "webp", "avif"]);
  expect(Object.keys(FORMATS.storyboard)).toEqual(["jpeg", "webp"]);
  expect(Object.keys(FORMATS.waveform)).toEqual(["json", "dat", "png"]);
  expect(Object.keys(FORMATS.adaptive_video)).toEqual(["hls", "dash", "hls_dash"]);
  expect(VIDEO_CODECS).toEqual(["h264", "h265", "vp9", "av1"]);
  expect(QUALITIES).toEqual(["very_low", "low", "medium", "high", "very_high"]);
  expect(FITS).toEqual(["contain", "cover", "fill"]);
  expect(INPUT_SCHEMES).toEqual(["http:", "https:", "s3:"]);
  expect(BOUNDS).toMatchObject({
    fps: { min: 1, max: 60 },
    video_bitrate: { min: 300_000, max: 60_000_000 },
    audio_bitrate: { min: 32_000, max: 320_000 },
  });
});

test("each format lists its default codec first, and each default format exists in its kind", () => {
  const defaults = Object.entries(FORMATS.video).map(([format, { codecs }]) => [format, codecs[0]]);
  expect(defaults).toEqual([
    ["mp4", "h264"],
    ["webm", "vp9"],
    ["mov", "h264"],
  ]);
  for (const kind of ENCODE_KINDS) expect(FORMATS[kind]).toHaveProperty(DEFAULT_FORMAT[kind]);
});

test("every format has a MIME type of its kind and a unique extension", () => {
  // Animations and sheets of tiles are in files of image formats.
  const { animation, storyboard, waveform, ...others } = FORMATS;
  for (const { mime, extension } of Object.values({ ...animation, ...storyboard, png: waveform.png })) {
    expect(Object.values(FORMATS.image)).toContainEqual(expect.objectContaining({ mime, extension }));
  }
  const all = Object.values(others).flatMap((formats) => Object.entries(formats));
  // Both kinds of stream in one folder, of which the master playlist is opened.
  const rows = all.filter(([format]) => format !== "hls_dash").map(([, facts]) => facts);
  expect(new Set(rows.map(({ extension }) => extension)).size).toBe(rows.length);
  for (const kind of ["video", "audio", "image"] as const) {
    for (const { mime } of Object.values(FORMATS[kind])) expect(mime.startsWith(`${kind}/`)).toBe(true);
  }
});
