import { estimateWork } from "../../media/estimate.ts";
import { featureCost } from "../../media/features.ts";
import type { Tool } from "../../media/ffmpeg/toolset.ts";
import type { AudioCodec, ImageFormat } from "../../media/formats.ts";
import {
  type AudioPlan,
  type Geometry,
  type Plan,
  pictureSize,
  plannedOf,
  sourceSeconds,
} from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";

/** A core of ffmpeg: the stock one, or the fast one of this project. */
export type CoreName = "stock" | "fast";

/**
 * Costs of work on the stock core, in MiB of heap and seconds of one processor; "per Mpx" means per million pixels of one picture.
 * Measured in Node 24 on one core of a 2-core virtual machine, on noisy and on drawn pictures, by
 * `bench/constants/light-constants.ts`, which prints these figures beside its own; rounded up.
 */
export const LIGHT_COST = {
  heap: {
    /** The core, its stack, demuxers and muxers; `moving` and `vp9` add to it for a source with a timeline and for libvpx. */
    base: 18,
    moving: 4,
    /** Per thousand seconds of source: a demuxer's index of some 25 pictures and 47 packets of sound a second. */
    index: 3,
    vp9: 6,
    /** Per Mpx decoded: reference pictures and pictures buffered for reordering. */
    decode: { still: 2.7, still_rgb: 4.5, still_alpha: 13.5, moving: 13, deep: 34, alpha: 44 },
    /** Per Mpx encoded. */
    encode: { jpeg: 9.5, png: 6.5, webp: 2.5, gif: 22, avif: 0, vp9: 62 },
    /** Extra per Mpx encoded: transparency in WebP, HDR to SDR, padding. */
    alpha: 8,
    pad: 4,
    /** Per GIF (its palette tree), and per additional rendition. */
    palette: 17,
    /** Per Mpx buffered for the palette of all frames: four bytes a pixel. */
    held: 4,
    rendition: 12,
    further: 16,
    /** Burnt-in subtitles: the font and its glyph cache. */
    burn: 4,
  },
  seconds: {
    /** Startup and reading the input. */
    start: 0.2,
    /** Per Mpx decoded, and per million bits decoded. */
    decode: 0.007,
    bits: 0.025,
    /** Scaling, per Mpx decoded or encoded. */
    scale: 0.008,
    /** Per Mpx encoded. */
    encode: { jpeg: 0.03, png: 0.18, webp: 0.1, gif: 0.2, avif: 0, vp9: 0.08 },
    /** Drawing two lines of subtitles that change ten times a second, per Mpx encoded. */
    burn: 0.009,
    /** Per second of sound. */
    sound: { aac: 0.025, mp3: 0.02, opus: 0.015, vorbis: 0.2, flac: 0.005, pcm_s16le: 0.003 },
    /** Extra per second of sound with loudness: one pass to measure it, and four with a limiter. */
    level: 0.13,
  },
} as const;

/** Seconds where the fast core differs, measured in the same way; its heap is no larger. */
const FAST_SECONDS = {
  decode: 0.002,
  bits: 0.02,
  scale: 0.002,
  sound: { ...LIGHT_COST.seconds.sound, aac: 0.018, mp3: 0.008, opus: 0.01, flac: 0.003 },
  level: 0.08,
} as const;

// A seventh faster than the preset's hexagon search, for -2.1 to +1.2 % of the bytes at equal SSIM over eight films; only jumping text
// takes 12 % more. B-frames keep the preset's spatial prediction, because temporal takes 16 % more when a camera shakes.
const QUICK = "me=dia";

/** x264 settings by heap per Mpx, best first; look-ahead costs most and B-frames gain most. */
export const X264_LEVELS: readonly [X264Level, X264Level, X264Level, X264Level, X264Level] = [
  {
    heap: 85,
    seconds: { stock: 0.08, fast: 0.025 },
    args: x264("veryfast", `rc-lookahead=10:bframes=3:ref=1:${QUICK}`),
  },
  {
    heap: 64,
    seconds: { stock: 0.08, fast: 0.025 },
    args: x264("veryfast", `rc-lookahead=5:bframes=2:ref=1:${QUICK}`),
  },
  {
    heap: 43,
    seconds: { stock: 0.08, fast: 0.025 },
    args: x264("veryfast", `rc-lookahead=2:bframes=1:ref=1:${QUICK}`),
  },
  {
    heap: 36,
    seconds: { stock: 0.08, fast: 0.025 },
    args: x264("veryfast", `rc-lookahead=2:bframes=0:ref=1:${QUICK}`),
  },
  {
    heap: 22,
    seconds: { stock: 0.035, fast: 0.012 },
    args: x264("ultrafast", "rc-lookahead=0:bframes=0:ref=1"),
  },
];

/**
 * x264 setting for memory that allows half as much look-ahead again: as good as the first of {@link X264_LEVELS}, in less time.
 */
export const X264_AMPLE: X264Level = {
  heap: 106,
  seconds: { stock: 0.075, fast: 0.025 },
  // Look-ahead makes up for the missing B-frame partitions: a fifth faster than the preset, for 1.3 % fewer bytes at equal SSIM over
  // the same films. At one CRF, look-ahead spends 3 % more bytes for more fidelity, and would spend even more without the lower qcomp.
  args: x264("veryfast", `rc-lookahead=15:bframes=3:ref=1:${QUICK}:partitions=i4x4,i8x8,p8x8:qcomp=0.55`),
};

/** x264's arguments at one setting, and their cost per Mpx encoded. */
export interface X264Level {
  /** MiB. */
  heap: number;
  /** Seconds of one processor, on each core. */
  seconds: Readonly<Record<CoreName, number>>;
  args: Tool["args"];
}

function x264(preset: string, params: string): Tool["args"] {
  return ["-preset", preset, "-x264-params", `threads=1:${params}`];
}

const MPX = 1_000_000;

/** Estimates the MiB of heap that a plan takes with x264 at a level. */
export function heapOf(plan: Plan, source: Source, level: X264Level): number {
  const { heap } = LIGHT_COST;
  const { frame_decoded, pixels_held } = estimateWork(plan, source);
  const outputs = pictures(plan);
  const decoded = (frame_decoded / MPX) * heap.decode[sortOf(plan, source)];
  const encoded = outputs.map((geometry) => {
    const extra =
      (keepsAlpha(plan) ? heap.alpha : 0) +
      featureCost(plannedOf(plan), "stock").memory +
      (geometry.pad ? heap.pad : 0);
    return area(geometry) * (encoding(plan, heap.encode, level.heap) + extra);
  });
  const fixed =
    heap.base +
    (source.kind === "image" ? 0 : heap.moving + ((source.duration ?? 0) / 1000) * heap.index) +
    (plan.format === "webm" ? heap.vp9 : 0) +
    (plan.format === "gif" ? heap.palette : 0) +
    ((pixels_held ?? 0) / MPX) * heap.held +
    (burns(plan) ? heap.burn : 0) +
    Math.max(0, outputs.length - 1) * heap.rendition +
    (plan.further ?? []).reduce((sum, { pixels }) => sum + (pixels / MPX) * heap.further, 0);
  return decoded + encoded.reduce((sum, each) => sum + each, 0) + fixed;
}

export interface WorkTime {
  pictures: number;
  sound: number;
  /** For each chunk but the first: decoding from the keyframe before it to its start. */
  seek: number;
}

const SEEK_SECONDS = 4;

/** Estimates the seconds of work in a plan on a core; null when its duration is unknown. */
export function secondsOf(
  plan: Plan,
  source: Source,
  level: X264Level,
  core: CoreName = "stock",
): WorkTime | null {
  const seconds = core === "fast" ? { ...LIGHT_COST.seconds, ...FAST_SECONDS } : LIGHT_COST.seconds;
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
    encoding(plan, seconds.encode, level.seconds[core]) +
    featureCost(plannedOf(plan), core).seconds +
    (burns(plan) ? seconds.burn : 0);
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
  seconds: { sound: Readonly<Record<AudioCodec, number>>; level: number },
): number {
  return seconds.sound[codec] + (shape?.loudness === undefined ? 0 : seconds.level);
}

function sortOf(plan: Plan, source: Source): keyof (typeof LIGHT_COST)["heap"]["decode"] {
  const depth = source.color?.bit_depth ?? 8;
  if (source.kind === "image") {
    const pixels = source.pixel_format ?? "";
    if (source.has_alpha || /^(yuva|gbrap)/.test(pixels)) return "still_alpha";
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

function keepsAlpha(plan: Plan): boolean {
  return plan.format === "webp" && plan.image?.alpha === true;
}

function burns({ video }: Plan): boolean {
  return video?.mode === "encode" && video.burn !== undefined;
}

function area({ width, height }: Geometry): number {
  return (width * height) / MPX;
}
