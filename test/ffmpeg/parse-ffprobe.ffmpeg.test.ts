import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dropped } from "../../src/media/dropped.ts";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { Source } from "../../src/media/source.ts";
import { CLIP_NAMES, type ClipName, clip } from "../fixtures/clips.ts";
import { CLIP_FOLDER, makeClip } from "../fixtures/make-clip.ts";
import { withOrientation } from "../judge/clips.ts";
import { faultOf } from "../plan/source.ts";
import { probe } from "../probe/probe-file.ts";

const picture = { width: 160, height: 90, coded_width: 160, coded_height: 90, sample_aspect_ratio: "1:1" };
const video: Partial<Source> = {
  kind: "video",
  ...picture,
  rotation: 0,
  fps: 25,
  has_alpha: false,
  interlaced: false,
};
const stereo = { channels: 2, sample_rate: 44_100 };
const h264 = { codecs: { video: "h264", audio: "aac" }, audio: stereo };

const CLIPS: Partial<Record<ClipName, Partial<Source>>> = {
  mp4: {
    ...video,
    ...h264,
    format: "mp4",
    mime: "video/mp4",
    duration: 2,
    pixel_format: "yuv420p",
    color: { bit_depth: 8, hdr: false },
  },
  mov: { ...video, ...h264, format: "mov", mime: "video/quicktime", duration: 2 },
  mkv: { ...video, ...h264, format: "matroska", mime: "video/x-matroska" },
  flv: { ...video, ...h264, format: "flv", mime: "video/x-flv" },
  mpegts: { ...video, ...h264, format: "mpegts", mime: "video/mp2t" },
  mp4_rotated_90: { ...video, width: 90, height: 160, rotation: 90 },
  mp4_rotated_180: { ...video, rotation: 180 },
  mp4_rotated_270: { ...video, width: 90, height: 160, rotation: 270 },
  mp4_wide_pixels: { ...video, width: 213, sample_aspect_ratio: "4:3" },
  mp4_odd: { ...video, width: 161, height: 91, coded_width: 161, coded_height: 91, pixel_format: "yuv444p" },
  mp4_surround: {
    ...video,
    codecs: { video: "h264", audio: "aac" },
    audio: { channels: 6, sample_rate: 44_100 },
  },
  mp4_hdr: {
    ...video,
    codecs: { video: "h265", audio: "aac" },
    pixel_format: "yuv420p10le",
    color: {
      primaries: "bt2020",
      transfer: "smpte2084",
      space: "bt2020nc",
      range: "limited",
      bit_depth: 10,
      hdr: true,
    },
  },
  mp4_10_bit: { ...video, color: { bit_depth: 10, hdr: false } },
  mp4_interlaced: { ...video, height: 88, coded_height: 88, interlaced: true },
  mpegts_interlaced: { interlaced: true, codecs: { video: "mpeg2video", audio: "mp2" } },
  mov_prores: { codecs: { video: "prores", audio: "pcm_s16le" }, pixel_format: "yuv422p10le" },
  webm: { ...video, format: "webm", mime: "video/webm", codecs: { video: "vp9", audio: "opus" } },
  webm_vp8: { format: "webm", codecs: { video: "vp8", audio: "vorbis" } },
  webm_alpha: { kind: "video", has_alpha: true, codecs: { video: "vp9", audio: null } },
  avi: { kind: "video", format: "avi", mime: "video/x-msvideo", codecs: { video: "mpeg4", audio: "mp3" } },
  h264: { kind: "video", format: "h264", codecs: { video: "h264", audio: null } },
  mp4_silent: { kind: "video", codecs: { video: "h264", audio: null } },
  m4a: {
    kind: "audio",
    format: "mp4",
    mime: "audio/mp4",
    codecs: { video: null, audio: "aac" },
    audio: stereo,
  },
  mp3: { kind: "audio", format: "mp3", mime: "audio/mpeg", codecs: { video: null, audio: "mp3" } },
  mp3_cover: { kind: "audio", format: "mp3", codecs: { video: null, audio: "mp3" } },
  aac: { kind: "audio", format: "aac", mime: "audio/aac", codecs: { video: null, audio: "aac" } },
  wav: {
    kind: "audio",
    format: "wav",
    mime: "audio/wav",
    duration: 2,
    codecs: { video: null, audio: "pcm_s16le" },
  },
  wav_24_bit: { codecs: { video: null, audio: "pcm_s24le" } },
  flac: { kind: "audio", format: "flac", mime: "audio/flac", codecs: { video: null, audio: "flac" } },
  ogg: { kind: "audio", format: "ogg", mime: "audio/ogg", codecs: { video: null, audio: "vorbis" } },
  opus: {
    kind: "audio",
    format: "ogg",
    codecs: { video: null, audio: "opus" },
    audio: { channels: 2, sample_rate: 48_000 },
  },
  jpeg: { kind: "image", ...picture, format: "jpeg", mime: "image/jpeg", animated: false, has_alpha: false },
  png: { kind: "image", ...picture, format: "png", mime: "image/png", animated: false, has_alpha: false },
  png_alpha: { kind: "image", format: "png", has_alpha: true, pixel_format: "rgba" },
  png_animated: { kind: "image", format: "png", animated: true, fps: 25 },
  webp: { kind: "image", ...picture, format: "webp", mime: "image/webp", animated: false },
  avif: { kind: "image", ...picture, format: "avif", mime: "image/avif", animated: false },
  bmp: { kind: "image", ...picture, format: "bmp", mime: "image/bmp" },
  gif: { kind: "image", ...picture, format: "gif", mime: "image/gif", animated: false, has_alpha: true },
  gif_animated: { kind: "image", format: "gif", animated: true, fps: 25, duration: 2 },
};

test.concurrent.for(Object.entries(CLIPS))("describes %s", async ([name, expected], { expect }) => {
  const source = await probe(await clip(name as ClipName));
  expect(source).toMatchObject({ object: "source", url: "file:clip", ...expected });
  // Unknown facts are absent, not undefined, so that JSON keeps the Source equal.
  expect(JSON.parse(JSON.stringify(source))).toEqual(source);
  expect(Object.keys(source).every((key) => source[key as keyof Source] !== undefined)).toBe(true);
  expect(Source.parse(source)).toEqual(source);
});

test("every clip that ffprobe reads is covered", () => {
  const tested = new Set(Object.keys(CLIPS));
  const same = [
    "mp4_faststart",
    "mp4_fragmented",
    "mp4_b_frames",
    "mp4_vfr",
    "mp4_h265",
    "mp4_av1",
    "webm_odd",
    "mp3_vbr",
    "png_odd",
  ];
  const rest = CLIP_NAMES.filter((name) => !tested.has(name) && !same.includes(name));
  expect(rest).toEqual(["webp_animated"]);
});

test("ffprobe cannot size an animated WebP", async () => {
  await expect(probe(await clip("webp_animated"))).rejects.toMatchObject({ kind: "input_unsupported" });
});

test("reports streams with their durations and bitrates", async () => {
  const { streams, bitrate, filesize } = await probe(await clip("mp4"));
  expect(streams).toMatchObject([
    { index: 0, kind: "video", codec: "h264", duration: 2 },
    { index: 1, kind: "audio", codec: "aac", duration: 2 },
  ]);
  expect((bitrate ?? 0) / (((filesize ?? 0) * 8) / 2)).toBeCloseTo(1, 2);
  const cover = await probe(await clip("mp3_cover"));
  expect(cover.streams).toMatchObject([
    { index: 0, kind: "audio", codec: "mp3" },
    { index: 1, kind: "cover", codec: "mjpeg" },
  ]);
  expect([cover.width, cover.fps, cover.has_alpha]).toEqual([undefined, undefined, undefined]);
});

test("raw MPEG-1 video has no length, and its maximum bitrate is no bitrate", async () => {
  const path = await makeClip("m1v", ["-f", "lavfi", "-i", "testsrc2=s=64x36:d=2", "-c:v", "mpeg1video"]);
  const source = await probe(path);
  expect(source).toMatchObject({ format: "mpegvideo", codecs: { video: "mpeg1video" }, fps: 25 });
  expect([source.duration, source.bitrate, source.streams?.[0]?.bitrate]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("reports languages and subtitle streams", async () => {
  const path = await makeClip("mkv", [
    ..."-f lavfi -i testsrc2=s=64x36:d=0.2 -f lavfi -i sine=d=0.2 -c:v mpeg4 -c:a flac -metadata:s:a language=deu".split(
      " ",
    ),
  ]);
  const srt = join(CLIP_FOLDER, "words.srt");
  await writeFile(srt, "1\n00:00:00,000 --> 00:00:00,100\nHello\n");
  const subtitled = await makeClip("mkv", ["-i", path, "-i", srt, "-map", "0", "-map", "1", "-c", "copy"]);
  const { streams, kind } = await probe(subtitled);
  expect(kind).toBe("video");
  expect(streams?.map(({ kind, codec, language }) => [kind, codec, language])).toEqual([
    ["video", "mpeg4", undefined],
    ["audio", "flac", "deu"],
    ["subtitle", "subrip", undefined],
  ]);
});

test("reads a photo's orientation from its EXIF data", async () => {
  const plain = await clip("jpeg");
  for (const [orientation, rotation, flipped, width] of [
    [1, 0, undefined, 160],
    [2, 0, true, 160],
    [3, 180, undefined, 160],
    [4, 180, true, 160],
    [5, 90, true, 90],
    [6, 90, undefined, 90],
    [7, 270, true, 90],
    [8, 270, undefined, 90],
  ] as const) {
    const turned = join(CLIP_FOLDER, `orientation-${orientation}.jpg`);
    await writeFile(turned, withOrientation(await readFile(plain), orientation));
    const source = await probe(turned);
    expect([orientation, source.rotation, source.flipped, source.width]).toEqual([
      orientation,
      rotation,
      flipped,
      width,
    ]);
  }
});

const origin = { url: "https://example.com/a", filesize: 10 };
const report = (format_name: string, ...streams: object[]) => ({ format: { format_name }, streams });
const pixels = { codec_type: "video", width: 16, height: 9 };

test.for([
  { name: "a report of null", json: null },
  { name: "an empty report", json: {} },
  { name: "an array for a report", json: [] },
  { name: "a file without streams", json: report("mp3") },
  { name: "text rendered as pictures", json: report("tty", { ...pixels, codec_name: "ansi" }) },
  { name: "binary data rendered as text", json: report("bin", { ...pixels, codec_name: "bintext" }) },
  { name: "a list of files", json: report("concat", { ...pixels, codec_name: "h264" }) },
  { name: "a playlist", json: report("hls", { ...pixels, codec_name: "h264" }) },
  { name: "a subtitle file", json: report("srt", { codec_type: "subtitle", codec_name: "subrip" }) },
  {
    name: "a file with only a cover",
    json: report("mp3", { ...pixels, codec_name: "mjpeg", disposition: { attached_pic: 1 } }),
  },
  {
    name: "video of zero size",
    json: report("avi", { codec_type: "video", codec_name: "h264", width: 0, height: 0 }),
  },
] as const)("rejects $name as unsupported", ({ json }) => {
  expect(faultOf(() => parseFfprobe(json, origin))).toMatchObject({ kind: "input_unsupported" });
});

test("the clock of a WebM is not the frame rate of its pictures", () => {
  const recorded = { ...pixels, codec_name: "vp8", r_frame_rate: "1000/1", avg_frame_rate: "0/0" };
  const source = parseFfprobe({ ...report("matroska,webm", recorded), frames: "none" }, origin);
  expect(source.fps).toBeUndefined();
  expect(dropped("video", { speed: 2 }, source)).toEqual([]);
});

test("ignores malformed fields of a report", () => {
  const odd = {
    ...pixels,
    codec_name: 7,
    sample_aspect_ratio: [],
    tags: "x",
    side_data_list: {},
    avg_frame_rate: "0/0",
    nb_frames: "N/A",
  };
  const source = parseFfprobe({ ...report("matroska,webm", odd), frames: "none" }, origin);
  expect(source).toEqual({
    object: "source",
    ...origin,
    kind: "video",
    format: "matroska",
    mime: "video/x-matroska",
    ...{ width: 16, height: 9, coded_width: 16, coded_height: 9, sample_aspect_ratio: "1:1", rotation: 0 },
    has_alpha: false,
    color: { hdr: false },
    codecs: { video: null, audio: null },
    streams: [{ index: 0, kind: "video", codec: null }],
  });
});
