import { findBuilt } from "../../core/cache.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";

// Each encoder of a page supports this, and refuses anything else with the codes in the table.
export const ENCODERS = ["copy", "avif", "canvas", "fast", "wasm", "wasm-mt", "webcodecs"] as const;
export type EncoderName = (typeof ENCODERS)[number];

export const YES = null;
// Where it is not built, the page still lists it and says so.
const FAST = findBuilt("core") ? YES : "not_loaded";
const TEMPO = FAST ?? "tempo";
const OVERLAY = FAST ?? "overlay";
const CONCAT = FAST ?? "concat";
const PICTURES = "needs_encoding";
const OTHER = "other_work";

/** The expected output, with codecs as ffprobe names them. */
export interface Expected {
  picture?: string;
  sound?: string;
  width?: number;
  still?: true;
  /** ffmpeg filters that make the same of what a player shows. */
  like?: string;
  /** Name of the file to judge; the one to open when absent. */
  file?: string;
  /** LUFS. */
  loudness?: number;
  /** Seconds; 2 when absent. */
  duration?: number;
  /** Pictures. */
  frames?: number;
  /** Bytes that the file must not exceed, and of which it must use most. */
  bytes?: number;
}

export interface Row<K extends EncodeKind = EncodeKind> {
  name: string;
  clip: ClipName;
  kind: K;
  options: OptionsOf<K>;
  expected: Expected;
  chunk_seconds?: number;
  /** Path of an extra input. */
  extra?: () => Promise<string>;
  /** In the order of `ENCODERS`: null if it encodes, or the code of its refusal. */
  cells: readonly (string | null)[];
}

const video = (
  codec: "h264" | "h265" | "vp9" | "av1",
  format: "mp4" | "mov" | "webm",
  cells: Row["cells"],
): Row<"video"> => ({
  ...{ name: `${codec} in ${format}`, clip: "mp4", kind: "video", cells },
  options: { codec, format, width: 160 },
  expected: {
    ...{ picture: codec === "h265" ? "hevc" : codec, sound: format === "webm" ? "opus" : "aac", width: 160 },
  },
});

const audio = (
  format: NonNullable<OptionsOf<"audio">["format"]>,
  sound: string,
  fast: Row["cells"][number] = FAST,
): Row<"audio"> => ({
  ...{ name: format, clip: "m4a", kind: "audio", options: { format, bitrate: 96_000 }, expected: { sound } },
  cells: [OTHER, OTHER, OTHER, fast, YES, OTHER, OTHER],
});

const image = (
  format: "jpeg" | "png" | "webp" | "gif" | "avif",
  picture: string,
  cells: Row["cells"] = [OTHER, OTHER, OTHER, OTHER, YES, OTHER, OTHER],
): Row<"image"> => ({
  ...{ name: format, clip: "png", kind: "image", options: { format, width: 160 }, cells },
  expected: { picture, width: 160, still: true },
});

const DRAWN = [OTHER, OTHER, YES, OTHER, YES, OTHER, OTHER] as const;

const limited = (
  format: "jpeg" | "png" | "webp" | "avif",
  picture: string,
  max_bytes: number,
  cells?: Row["cells"],
): Row<"image"> => ({
  ...image(format, picture, cells),
  ...{ name: `${format} of limited size`, options: { format, quality: "high", max_bytes } },
  expected: { picture, still: true, bytes: max_bytes },
});

const animation = (format: "gif" | "webp", picture: string, canvas: string): Row<"animation"> => ({
  ...{ name: `animated ${format}`, clip: "mp4", kind: "animation" },
  ...{ options: { format, width: 160, fps: 10 }, expected: { picture, width: 160 } },
  cells: [OTHER, OTHER, canvas, OTHER, YES, OTHER, OTHER],
});

const TURNED = { rotate: 90, flip: "horizontal", crop: "16:9", width: 160 } as const;
// The filters for 320×180 pixels; they keep the first picture, as a still has no other.
const LIKE_TURNED = "trim=end_frame=1,transpose=clock,hflip,crop=180:101:0:109,scale=160:90";

const redPicture = () =>
  makeClip("png", ["-f", "lavfi", "-i", "color=red:size=20x20,format=rgb24", "-frames:v", "1"]);

const LEVELED = { normalize: true, target_lufs: -20 } as const;

/** The output of each encoder of a page for a clip, or the reason for its refusal. */
export const ROWS: readonly Row[] = [
  video("h264", "mp4", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
  video("h264", "mov", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
  // WebCodecs would do it too on a machine with an H.265 encoder.
  video("h265", "mp4", [PICTURES, OTHER, OTHER, OTHER, "output_codec", YES, "output_codec"]),
  video("vp9", "webm", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
  video("av1", "mp4", [PICTURES, OTHER, OTHER, OTHER, "output_codec", OTHER, YES]),
  video("av1", "webm", [PICTURES, OTHER, OTHER, OTHER, "output_codec", OTHER, YES]),
  {
    ...{
      name: "the same pictures in another container",
      clip: "mp4",
      kind: "video",
      options: { format: "mov" },
    },
    ...{
      expected: { picture: "h264", sound: "aac", width: 320 },
      cells: [YES, OTHER, OTHER, FAST, YES, OTHER, OTHER],
    },
  },
  {
    ...audio("ogg", "vorbis"),
    ...{ name: "a part of the sound as it is", clip: "ogg", options: { mode: "copy", start: 0.5, end: 1.5 } },
    expected: { sound: "vorbis", duration: 1 },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "h264 turned, mirrored and cut", options: { codec: "h264", ...TURNED } },
    expected: { picture: "h264", sound: "aac", width: 160, like: LIKE_TURNED },
  },
  {
    ...image("jpeg", "mjpeg", DRAWN),
    ...{ name: "a still turned, mirrored and cut", options: { format: "jpeg", ...TURNED } },
    expected: { picture: "mjpeg", width: 160, still: true, like: LIKE_TURNED },
  },
  {
    ...image("jpeg", "mjpeg", [OTHER, OTHER, "animated", OTHER, YES, OTHER, OTHER]),
    ...{ name: "a frame turned, mirrored and cut", clip: "mp4", options: { format: "jpeg", ...TURNED } },
    expected: { picture: "mjpeg", width: 160, still: true, like: LIKE_TURNED },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "h264 with normalized sound", options: { codec: "h264", width: 160, ...LEVELED } },
    expected: { picture: "h264", sound: "aac", width: 160, loudness: -20 },
  },
  {
    ...video("vp9", "webm", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "vp9 with normalized sound", options: { format: "webm", width: 160, ...LEVELED } },
    expected: { picture: "vp9", sound: "opus", width: 160, loudness: -20 },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "h264 without sound", options: { codec: "h264", width: 160, mute: true } },
    expected: { picture: "h264", width: 160 },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "h264 with opus, in chunks", chunk_seconds: 0.7 },
    options: { codec: "h264", width: 160, audio_codec: "opus" },
    expected: { picture: "h264", sound: "opus", width: 160, frames: 50 },
  },
  {
    ...video("vp9", "webm", [PICTURES, OTHER, OTHER, OTHER, YES, OTHER, YES]),
    ...{ name: "vp9 with vorbis", options: { format: "webm", width: 160, audio_codec: "vorbis" } },
    expected: { picture: "vp9", sound: "vorbis", width: 160, frames: 50 },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, TEMPO, YES, OTHER, YES]),
    ...{ name: "slow h264", options: { codec: "h264", width: 160, speed: 0.8 } },
    expected: { picture: "h264", sound: "aac", width: 160, duration: 2.5, frames: 50 },
  },
  {
    ...video("vp9", "webm", [PICTURES, OTHER, OTHER, FAST, YES, OTHER, YES]),
    ...{ name: "fast vp9 without sound", options: { format: "webm", width: 160, speed: 2, mute: true } },
    expected: { picture: "vp9", width: 160, duration: 1, frames: 25 },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, TEMPO, YES, OTHER, YES]),
    ...{ name: "fast h264 in chunks", options: { codec: "h264", width: 160, speed: 2 }, chunk_seconds: 0.7 },
    expected: {
      ...{ picture: "h264", sound: "aac", width: 160, duration: 1, frames: 25 },
      like: "select=not(mod(n\\,2)),scale=160:90",
    },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, OVERLAY, YES, OTHER, "overlay"]),
    ...{ name: "h264 under an overlay, in chunks", chunk_seconds: 0.7, extra: redPicture },
    options: {
      ...{ codec: "h264", width: 160 },
      overlay: {
        url: "https://example.com/red.png",
        position: "top-right",
        width: "25%",
        start: 0.5,
        end: 1.5,
      },
    },
    expected: {
      ...{ picture: "h264", sound: "aac", width: 160, frames: 50 },
      like: "scale=160:90,drawbox=x=120:y=0:w=40:h=40:color=red:t=fill:enable='gte(t,0.5)*lt(t,1.5)'",
    },
  },
  {
    ...video("h264", "mp4", [PICTURES, OTHER, OTHER, CONCAT, YES, OTHER, "concat"]),
    ...{ name: "h264 before another", extra: () => clip("mp4", { size: "320x180" }), chunk_seconds: 0.7 },
    options: { codec: "h264", width: 160, fps: 25, concat: [{ url: "https://example.com/second.mp4" }] },
    expected: {
      ...{ picture: "h264", sound: "aac", width: 160, duration: 4, frames: 100 },
      like: "scale=160:90,split[a][b];[a][b]concat=n=2",
    },
  },
  {
    ...video("h265", "mp4", [PICTURES, OTHER, OTHER, OTHER, "output_codec", YES, "overlay"]),
    ...{ name: "h265 under an overlay", extra: redPicture },
    options: { codec: "h265", width: 160, overlay: { url: "https://example.com/red.png", width: 40 } },
    expected: {
      ...{ picture: "hevc", sound: "aac", width: 160, frames: 50 },
      like: "scale=160:90,drawbox=x=60:y=25:w=40:h=40:color=red:t=fill",
    },
  },
  {
    ...audio("mp3", "mp3", TEMPO),
    ...{ name: "fast mp3", options: { format: "mp3", speed: 2 }, expected: { sound: "mp3", duration: 1 } },
  },
  {
    ...audio("mp3", "mp3"),
    ...{ name: "normalized mp3", options: { format: "mp3", channels: 1, fade_in: 0.1, ...LEVELED } },
    expected: { sound: "mp3", loudness: -20 },
  },
  {
    ...{ name: "a copy of a transport stream", clip: "mpegts", kind: "video", options: { mode: "copy" } },
    expected: { picture: "h264", sound: "aac", frames: 50, like: "null" },
    cells: ["input_format", OTHER, OTHER, FAST, YES, OTHER, OTHER],
  },
  audio("mp3", "mp3"),
  audio("aac", "aac"),
  audio("ogg", "vorbis", OTHER),
  audio("opus", "opus"),
  audio("wav", "pcm_s16le"),
  audio("flac", "flac"),
  image("jpeg", "mjpeg", DRAWN),
  image("png", "png"),
  image("webp", "webp", DRAWN),
  image("gif", "gif"),
  {
    ...image("jpeg", "mjpeg", [OTHER, OTHER, "overlay", OTHER, YES, OTHER, OTHER]),
    ...{ name: "jpeg under an overlay", extra: redPicture },
    options: { format: "jpeg", width: 160, overlay: { url: "https://example.com/red.png", width: 90 } },
    expected: {
      picture: "mjpeg",
      still: true,
      like: "scale=160:90,drawbox=x=35:y=0:w=90:h=90:color=red:t=fill",
    },
  },
  limited("jpeg", "mjpeg", 7000, DRAWN),
  limited("webp", "webp", 2500, DRAWN),
  limited("png", "png", 5000),
  limited("avif", "av1", 2000, [OTHER, YES, OTHER, OTHER, "output_format", OTHER, OTHER]),
  animation("gif", "gif", OTHER),
  {
    ...{ name: "a storyboard", clip: "mp4", kind: "storyboard", options: { interval: 1, width: 160 } },
    expected: {
      picture: "mjpeg",
      still: true,
      file: "sheet_0001.jpg",
      like: "fps=1:round=up,scale=160:90,tile=2x1",
    },
    cells: [OTHER, OTHER, "animated", OTHER, YES, OTHER, OTHER],
  },
  {
    ...{ name: "several stills under an overlay", clip: "mp4", kind: "image", extra: redPicture },
    options: { count: 2, width: 160, overlay: { url: "https://example.com/red.png", position: "top-left" } },
    expected: {
      ...{ picture: "mjpeg", still: true, file: "still_0002.jpg" },
      like: "select=eq(n\\,25),scale=160:90,drawbox=x=0:y=0:w=20:h=20:color=red:t=fill",
    },
    cells: [OTHER, OTHER, "animated", OTHER, YES, OTHER, OTHER],
  },
  {
    ...{ ...audio("flac", "flac"), name: "a waveform", kind: "waveform" },
    ...{
      options: { format: "png", width: 160, height: 90 },
      expected: { picture: "png", width: 160, still: true },
    },
  },
  image("avif", "av1", [OTHER, YES, OTHER, OTHER, "output_format", OTHER, OTHER]),
  {
    ...{ name: "hls", clip: "mp4", kind: "adaptive_video", options: { width: 160 } },
    expected: { picture: "h264", sound: "aac", width: 160 },
    cells: [OTHER, OTHER, OTHER, FAST, YES, OTHER, YES],
  },
];
