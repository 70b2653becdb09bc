import { isMatroska, pictureFormat } from "../../media/containers.ts";
import { isScript } from "../../media/extra-files.ts";
import { costCodec } from "../../media/features/audio-format.ts";
import { BURN_FONT } from "../../media/features/subtitles.ts";
import { featureCost } from "../../media/features.ts";
import type { Tool } from "../../media/ffmpeg/toolset.ts";
import type { ImageFormat } from "../../media/formats.ts";
import type { Figures } from "../../media/native-costs.ts";
import {
  type AudioPlan,
  type Geometry,
  type Plan,
  pictureSize,
  plannedOf,
  sourceSeconds,
} from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import { estimateWork } from "../../media/work-estimate.ts";
import { MIB } from "../../util/bytes.ts";

/** A core of ffmpeg: the stock one, or the fast one of this project. */
export type CoreName = "stock" | "fast";

/**
 * Costs of work on the stock core: seconds of one processor, MiB of heap and bytes of output. "Per Mpx" means per million pixels of one
 * picture. Features state their own costs. `bench/constants/light-constants.ts` measures the figures and prints them by these names, or
 * states where they come from.
 */
export const STOCK_COSTS = {
  seconds: {
    /** Startup and reading the input. */
    start: 0.2,
    /** Cost per Mpx decoded. */
    decode: 0.007,
    /** Cost per million bits decoded. */
    bits: 0.025,
    /** Scaling, per Mpx decoded and per Mpx encoded. */
    scale: 0.008,
    /** Cost per Mpx encoded. */
    encode: { jpeg: 0.03, png: 0.18, webp: 0.1, gif: 0.2, avif: 0, vp9: 0.08 },
    /** Cost per Mpx encoded, by level. */
    x264: {
      lookahead_15: 0.075,
      lookahead_10: 0.08,
      lookahead_5: 0.08,
      lookahead_2: 0.08,
      no_b_frames: 0.08,
      ultrafast: 0.035,
    },
    /** Cost per second of sound. */
    sound: { aac: 0.025, mp3: 0.02, opus: 0.015, vorbis: 0.2, flac: 0.005, pcm_s16le: 0.003 },
    /** Cost per second of sound whose loudness changes: one pass to measure it, and four with a limiter. */
    loudness: 0.13,
  },
  memory: {
    /** The core, its stack, demuxers and muxers. */
    base: 18,
    /** A source with a timeline. */
    timeline: 4,
    /** A demuxer's index of some 25 pictures and 47 packets of sound a second, per thousand seconds of source. */
    index: 3,
    /** libvpx. */
    vp9: 6,
    /** Reference pictures and pictures that wait for reordering, per Mpx decoded. */
    decode: {
      still: 2.7,
      still_rgb: 4.5,
      /** Four bytes per coefficient, beside the code blocks. */
      still_jpeg2000: 18,
      still_alpha: 13.5,
      still_float: 15,
      still_float_alpha: 32,
      moving: 13,
      deep: 34,
      alpha: 44,
    },
    /** Cost per Mpx encoded. */
    encode: { jpeg: 9.5, png: 6.5, webp: 2.5, gif: 22, avif: 0, vp9: 62 },
    /** Cost per Mpx encoded, by level. */
    x264: {
      lookahead_15: 106,
      lookahead_10: 85,
      lookahead_5: 64,
      lookahead_2: 43,
      no_b_frames: 36,
      ultrafast: 22,
    },
    /** Transparency beside luma and chroma, as in WebP, per Mpx encoded. */
    alpha: 8,
    /** Cost per Mpx encoded with padding. */
    pad: 4,
    /** The palette tree of a GIF. */
    palette: 17,
    /** Cost per Mpx of the frames that an animation buffers for its palette. */
    palette_frames: 4,
    /** Cost per rendition after the first. */
    rendition: 12,
    /** Cost per Mpx of an extra input. */
    extra_input: 16,
    /** Cost per Mpx of letters: the renderer keeps a picture of each, and one of each line. */
    letters: 1.4,
    /** A page's encoder worker outside its heap: code, glue and blocks of input. */
    worker: 48,
  },
  /** The output, which is in memory too. */
  output: {
    /** Bytes per pixel. PNG compresses photographs to about half of their three. */
    png: 2,
    /** Bytes per pixel of other images. */
    image: 0.7,
    /** Bits per pixel of video whose bitrate is unknown. */
    video: 0.25,
    /** A file in memory grows by an eighth at a time. */
    growth: 1.125,
  },
} as const;

/** Costs of work on the fast core, in the units of {@link STOCK_COSTS}. Its heap is no larger. */
export const FAST_COSTS = {
  ...STOCK_COSTS,
  seconds: {
    start: 0.2,
    decode: 0.002,
    bits: 0.02,
    scale: 0.002,
    encode: STOCK_COSTS.seconds.encode,
    x264: {
      lookahead_15: 0.025,
      lookahead_10: 0.025,
      lookahead_5: 0.025,
      lookahead_2: 0.025,
      no_b_frames: 0.025,
      ultrafast: 0.012,
    },
    sound: { aac: 0.018, mp3: 0.008, opus: 0.01, vorbis: 0.2, flac: 0.003, pcm_s16le: 0.003 },
    loudness: 0.08,
  },
} as const;

/** A table of the costs of a core. */
export type WasmCosts = Figures<typeof STOCK_COSTS>;

/** The costs of each core. */
export const WASM_COSTS: Readonly<Record<CoreName, WasmCosts>> = { stock: STOCK_COSTS, fast: FAST_COSTS };

// A seventh faster than the preset's hexagon search, for -2.1 to +1.2 % of the bytes at equal SSIM over eight films (jumping text: +12 %).
const QUICK = "me=dia";

/** x264's arguments at one setting, whose costs the tables state by its name. */
export interface X264Level {
  name: keyof WasmCosts["memory"]["x264"];
  args: Tool["args"];
}

/** x264 settings by heap per Mpx, best first; look-ahead costs most and B-frames gain most. */
export const X264_LEVELS: readonly [X264Level, X264Level, X264Level, X264Level, X264Level] = [
  { name: "lookahead_10", args: x264("veryfast", `rc-lookahead=10:bframes=3:ref=1:${QUICK}`) },
  { name: "lookahead_5", args: x264("veryfast", `rc-lookahead=5:bframes=2:ref=1:${QUICK}`) },
  { name: "lookahead_2", args: x264("veryfast", `rc-lookahead=2:bframes=1:ref=1:${QUICK}`) },
  { name: "no_b_frames", args: x264("veryfast", `rc-lookahead=2:bframes=0:ref=1:${QUICK}`) },
  { name: "ultrafast", args: x264("ultrafast", "rc-lookahead=0:bframes=0:ref=1") },
];

/**
 * x264 setting for memory that allows half as much look-ahead again: as good as the first of {@link X264_LEVELS}, in less time.
 */
export const X264_AMPLE: X264Level = {
  name: "lookahead_15",
  // A fifth faster than the preset, for 1.3 % fewer bytes at equal SSIM; the lower qcomp offsets bytes that look-ahead adds at one CRF.
  args: x264("veryfast", `rc-lookahead=15:bframes=3:ref=1:${QUICK}:partitions=i4x4,i8x8,p8x8:qcomp=0.55`),
};

function x264(preset: string, params: string): Tool["args"] {
  return ["-preset", preset, "-x264-params", `threads=1:${params}`];
}

const MPX = 1_000_000;

/** Estimates the MiB of heap that a plan takes, with x264 at a level. */
export function heapOf(
  plan: Plan,
  source: Source,
  { name }: X264Level,
  { memory }: WasmCosts = STOCK_COSTS,
): number {
  const { frame_decoded, decoders, pixels_held } = estimateWork(plan, source);
  const features = featureCost(plannedOf(plan), "stock");
  const outputs = pictures(plan);
  const decoded = decoders * (frame_decoded / MPX) * memory.decode[memoryClassOf(plan, source)];
  const encoded = outputs.map((geometry) => {
    const extra =
      (hasAlphaPlane(plan) ? memory.alpha : 0) + features.memory + (geometry.pad ? memory.pad : 0);
    return area(geometry) * (encoding(plan, memory.encode, memory.x264[name]) + extra);
  });
  const fixed =
    memory.base +
    (source.kind === "image" ? 0 : memory.timeline + ((source.duration ?? 0) / 1000) * memory.index) +
    (isMatroska(plan.format) ? memory.vp9 : 0) +
    (pictureFormat(plan.format).palette === "always" ? memory.palette : 0) +
    ((pixels_held ?? 0) / MPX) * memory.palette_frames +
    features.fixed_memory +
    Math.max(0, outputs.length - 1) * memory.rendition +
    (plan.further ?? []).reduce(
      (sum, file) => sum + (file.pixels / MPX) * memory[isScript(file) ? "letters" : "extra_input"],
      0,
    ) +
    fontMemory(plan);
  return decoded + encoded.reduce((sum, each) => sum + each, 0) + fixed;
}

/** Returns the MiB of a request's own fonts, which the core copies once for each script. */
function fontMemory({ further = [] }: Plan): number {
  const fonts = further.filter(({ role }) => role === "font");
  return fonts.reduce((sum, { size }) => sum + (size - BURN_FONT.size) / MIB, 0);
}

/** Estimated seconds of one processor. */
export interface WorkTime {
  pictures: number;
  sound: number;
  /** Cost of decoding from the preceding keyframe to the start of a chunk, for every chunk but the first. */
  seek: number;
}

const SEEK_SECONDS = 4;

/** Estimates the seconds of work in a plan on a core; null when its duration is unknown. */
export function secondsOf(
  plan: Plan,
  source: Source,
  { name }: X264Level,
  core: CoreName = "stock",
  { seconds }: WasmCosts = WASM_COSTS[core],
): WorkTime | null {
  const work = estimateWork(plan, source);
  if (work.pixels_decoded === null || work.pixels_encoded === null || work.audio_seconds === null)
    return null;
  const decoded = work.pixels_decoded / MPX;
  const encoded = work.pixels_encoded / MPX;
  const span =
    work.seconds === 0 && source.fps ? (work.frames_decoded ?? 0) / source.fps : sourceSeconds(plan);
  const share = source.duration && span ? Math.min(1, span / source.duration) : 1;
  const bits = decoded > 0 ? ((source.filesize ?? 0) * 8 * share) / MPX : 0;
  const rate =
    encoding(plan, seconds.encode, seconds.x264[name]) + featureCost(plannedOf(plan), core).seconds;
  const { audio } = plan;
  const decoding = decoded * seconds.decode + bits * seconds.bits;
  return {
    pictures: decoding + (decoded + encoded) * seconds.scale + encoded * rate,
    seek: plan.duration && span ? (decoding * SEEK_SECONDS) / span : 0,
    sound: audio?.mode === "encode" ? work.audio_seconds * soundRate(audio, seconds) : 0,
  };
}

function soundRate(
  { codec, shape }: Extract<AudioPlan, { mode: "encode" }>,
  { sound, loudness }: WasmCosts["seconds"],
): number {
  return sound[costCodec(codec)] + (shape?.loudness === undefined ? 0 : loudness);
}

function memoryClassOf(plan: Plan, source: Source): keyof WasmCosts["memory"]["decode"] {
  const depth = source.color?.bit_depth ?? 8;
  if (source.kind === "image") {
    const pixels = source.pixel_format ?? "";
    if (source.codecs?.video === "jpeg2000") return "still_jpeg2000";
    const isFloat = /f(16|32)(le|be)$/.test(pixels);
    if (source.has_alpha || /^(yuva|gbrap)/.test(pixels))
      return isFloat ? "still_float_alpha" : "still_alpha";
    if (isFloat) return "still_float";
    return /^yuv/.test(pixels) && depth === 8 ? "still" : "still_rgb";
  }
  if (source.has_alpha && plan.image === null) return "alpha";
  return depth > 8 ? "deep" : "moving";
}

function encoding(plan: Plan, table: Readonly<Record<ImageFormat | "vp9", number>>, x264: number): number {
  if (plan.image) return table[plan.format as ImageFormat];
  return plan.video?.mode === "encode" && plan.video.codec === "vp9" ? table.vp9 : x264;
}

function pictures(plan: Plan): Geometry[] {
  if (plan.renditions.length > 0) return plan.renditions.map(({ geometry }) => geometry);
  if (plan.image) return [{ ...plan.image.geometry, ...pictureSize(plan.image) }];
  return plan.video?.mode === "encode" ? [plan.video.geometry] : [];
}

function hasAlphaPlane(plan: Plan): boolean {
  return plan.image?.alpha === true && pictureFormat(plan.format).yuv !== undefined;
}

function area({ width, height }: Geometry): number {
  return (width * height) / MPX;
}
