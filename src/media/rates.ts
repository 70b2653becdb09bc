import { containerOf } from "./containers.ts";
import { type CodecName, furtherCodecs } from "./features/codecs.ts";
import { DEFAULT_FPS } from "./features/fps.ts";
import type { GeometryOptions } from "./features/geometry.ts";
import {
  type AudioCodec,
  type AutoQuality,
  BOUNDS,
  type ImageFormat,
  QUALITIES,
  type Quality,
  type VideoCodec,
} from "./formats.ts";
import { mainStream } from "./main-tracks.ts";
import {
  createView,
  geometryFor,
  type Size,
  type StoredPicture,
  snap,
  targetSize,
} from "./picture-geometry.ts";
import type { Plan, Rate, Rendition, VideoPlan } from "./plan.ts";
import * as errors from "./plan-errors.ts";
import { plannedQuality } from "./quality-search.ts";
import type { Source } from "./source.ts";

type ByQuality = Readonly<Record<Quality, number>>;

const byQuality = (
  very_low: number,
  low: number,
  medium: number,
  high: number,
  very_high: number,
): ByQuality => ({
  very_low,
  low,
  medium,
  high,
  very_high,
});

/** Constant rate factor of each video codec by quality; adjacent levels differ by about 40 % in size, as in Zencoder. */
export const CRF = {
  h264: byQuality(31, 27, 23, 20, 17),
  h265: byQuality(36, 32, 28, 24, 21),
  vp9: byQuality(43, 37, 32, 27, 22),
  av1: byQuality(50, 43, 35, 30, 25),
} as const satisfies Record<VideoCodec, ByQuality>;

const AAC_MP3 = byQuality(64_000, 96_000, 128_000, 192_000, 256_000);
const OPUS_VORBIS = byQuality(48_000, 64_000, 96_000, 128_000, 192_000);

/** Bits per second of each lossy audio codec, by quality. */
export const AUDIO_BITRATE = { aac: AAC_MP3, mp3: AAC_MP3, opus: OPUS_VORBIS, vorbis: OPUS_VORBIS } as const;

/** FLAC compression level by quality: higher levels are slower and smaller, the audio is identical. */
export const FLAC_COMPRESSION = byQuality(0, 3, 5, 8, 12);

const JPEG_WEBP = byQuality(40, 60, 78, 87, 94);

/** Image quality on each format's scale: 1 to 100 for jpeg and webp, 63 to 0 for avif; png and gif have none. */
export const IMAGE_QUALITY = {
  jpeg: JPEG_WEBP,
  webp: JPEG_WEBP,
  avif: byQuality(45, 38, 30, 23, 16),
  png: null,
  gif: null,
} as const satisfies Record<ImageFormat, ByQuality | null>;

/** Trade-off between size and quality; `bitrate`, in bits per second, overrides `quality` (default `medium`). */
export interface RateOptions {
  quality?: Quality | undefined;
  bitrate?: number | undefined;
}

/** Returns the rate of a video stream. */
export function videoRate(codec: VideoCodec, options: RateOptions): Rate {
  if (options.bitrate !== undefined) return { bitrate: options.bitrate };
  return { crf: CRF[codec][options.quality ?? "medium"] };
}

/** Returns the bits per second of an audio stream; null for lossless codecs. */
export function audioBitrate(codec: AudioCodec, options: RateOptions): number | null {
  if (!(codec in AUDIO_BITRATE)) return null;
  return options.bitrate ?? AUDIO_BITRATE[codec as keyof typeof AUDIO_BITRATE][options.quality ?? "medium"];
}

/** Returns the quality of an image on its format's scale; null when the format has none. */
export function imageQuality(format: ImageFormat, quality: AutoQuality = "medium"): number | null {
  return IMAGE_QUALITY[format]?.[plannedQuality(quality)] ?? null;
}

/** Values measured at rate factors, in ascending order of the factors. */
export type Anchors = readonly (readonly [crf: number, value: number])[];

// Bits per pixel at 640x360 that match a CRF of the native encoders in SSIM: bench/constants/webcodecs-rate.ts.
const BITS_PER_PIXEL = {
  h264: [
    [17, 1.71],
    [20, 0.91],
    [23, 0.43],
    [27, 0.26],
    [31, 0.15],
  ],
  h265: [
    [21, 1.2],
    [24, 0.65],
    [28, 0.32],
    [32, 0.19],
    [36, 0.11],
  ],
  vp9: [
    [22, 0.83],
    [27, 0.6],
    [32, 0.51],
    [37, 0.43],
    [43, 0.28],
  ],
  av1: [
    [25, 0.63],
    [30, 0.53],
    [35, 0.37],
    [43, 0.2],
    [50, 0.13],
  ],
} as const satisfies Record<VideoCodec, Anchors>;

// A low source bitrate means simple pictures: more than this multiple of it is wasted.
const TIMES_SOURCE = {
  h264: [
    [17, 3],
    [31, 0.75],
  ],
  h265: [
    [21, 2.5],
    [36, 0.6],
  ],
  vp9: [
    [22, 2.5],
    [43, 0.6],
  ],
  av1: [
    [25, 2.5],
    [50, 0.6],
  ],
} as const satisfies Record<VideoCodec, Anchors>;

const REFERENCE = 640 * 360;
const SIZE_EXPONENT = -0.25;

export interface PictureRate extends Size {
  fps: number;
  /** The source's bits per second for as many pixels; null when unknown. */
  source_bits: number | null;
}

/** Returns the bits per second at which typical pictures match a CRF; fewer when the source's bitrate shows that they are simple. */
export function bitsFor(codec: VideoCodec, crf: number, pictures: PictureRate): number {
  const pixels = pictures.width * pictures.height;
  const anchors = BITS_PER_PIXEL[codec].map(([at, bits]) => [at, Math.log(bits)] as const);
  const bits = Math.exp(between(anchors, crf)) * (pixels / REFERENCE) ** SIZE_EXPONENT;
  const typical = bits * pixels * pictures.fps;
  const { source_bits } = pictures;
  const max = source_bits === null ? typical : source_bits * between(TIMES_SOURCE[codec], crf);
  return Math.round(Math.min(typical, max));
}

const SHRINK_EXPONENT = 0.75;

/** Scales a source's bits per second to pictures of another size and rate, but never above its own; null when unknown. */
export function sourceBits(source: Source, { width, height, fps }: Size & { fps: number }): number | null {
  const bitrate = streamBits(source, "video");
  const pixels = (source.coded_width ?? width) * (source.coded_height ?? height) * (source.fps ?? fps);
  return bitrate === null ? null : bitrate * Math.min(1, (width * height * fps) / pixels) ** SHRINK_EXPONENT;
}

/**
 * Returns the bits per second of a source's video or audio; those of video may be estimated as the file's minus the audio's. Null
 * when unknown.
 */
export function streamBits(source: Source, kind: "video" | "audio"): number | null {
  const own = ownBits(source, kind);
  if (own) return own;
  if (kind === "audio" && source.codecs?.video) return null;
  const all = source.bitrate ?? 0;
  const sound = kind === "video" ? ownBits(source, "audio") : 0;
  return (all > sound ? all - sound : all) || null;
}

function ownBits(source: Source, kind: "video" | "audio"): number {
  return mainStream(source, kind)?.bitrate ?? 0;
}

/** Returns whether a bitrate is that of a source's own video or audio. */
export function isOwnBitrate(bitrate: number, source: Source, kind: "video" | "audio"): boolean {
  const own = ownBits(source, kind);
  return own > 0 && Math.abs(bitrate / own - 1) < SAME_BITRATE;
}

/** Share by which equal bitrates may differ, because files round them. */
export const SAME_BITRATE = 0.01;

// kbit/s of MPEG-1 and MPEG-2 layer III; LAME picks the nearest, which may be higher.
const MP3 = {
  fast: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  slow: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

/** Returns the highest bitrate of MP3 that is at most the given one, otherwise its lowest, in bits per second. */
export function mp3Bitrate(bitrate: number, sample_rate: number): number {
  const steps = sample_rate >= 32_000 ? MP3.fast : MP3.slow;
  return 1000 * (steps.findLast((step) => step * 1000 <= bitrate) ?? steps[0]);
}

/** Interpolates between the two nearest anchors; extrapolates beyond the last. */
export function between(anchors: Anchors, crf: number): number {
  const index = anchors.findIndex(([at]) => at >= crf);
  const above = index === -1 ? anchors.length - 1 : Math.max(1, index);
  const [low, high] = [anchors[above - 1], anchors[above]];
  if (!low || !high) throw errors.tooFewAnchors();
  return low[1] + ((crf - low[0]) / (high[0] - low[0])) * (high[1] - low[1]);
}

/** Container overhead in bytes: per file with video, per audio file, per picture, and per audio packet. */
export const CONTAINER_BYTES = { video: 4_000, audio: 1_000, picture: 20, packet: 9 } as const;

/** Share of a target size to request from an encoder, because its average bitrate is only approximate. */
export const TARGET_SHARE = { video: 0.9, audio: 0.96 } as const;

const PACKET_SAMPLES = 1024;

/** Returns the container overhead of audio packets in bits per second. */
export function packetBits(sample_rate: number): number {
  return (sample_rate / PACKET_SAMPLES) * CONTAINER_BYTES.packet * 8;
}

/** Returns the container overhead of a video file in bytes. */
export function videoOverhead(frames: Plan["frames"], seconds: number): number {
  return CONTAINER_BYTES.video + (frames ?? seconds * DEFAULT_FPS) * CONTAINER_BYTES.picture;
}

/** Lowest video bitrate in bits per second, below which even the smallest pictures are unrecognizable. */
export const VIDEO_FLOOR = 24_000;

/**
 * Returns the video bitrate, in bits per second, that keeps a plan's output within a number of bytes, and never above that of the
 * source; throws `invalid_options` when the duration is unknown or too little is left.
 */
export function videoBitsWithin(bytes: number, plan: Plan, source: Source): number {
  const { duration } = plan;
  if (duration === null) throw errors.targetSizeDurationUnknown();
  const other = bytesBesidePictures(plan, source);
  const available = ((bytes - other) * 8) / duration;
  const bitrate = Math.round(available * TARGET_SHARE.video);
  if (bitrate >= VIDEO_FLOOR) return Math.min(bitrate, maxVideoBits(plan, source));
  const minBytes = Math.ceil(other + ((VIDEO_FLOOR / TARGET_SHARE.video) * duration) / 8);
  throw errors.targetSizeTooSmall({ bytes, duration, minBytes });
}

/** Returns the bytes that the container and the sound of a video take. */
export function bytesBesidePictures({ duration, frames, audio }: Plan, source: Source): number {
  const seconds = duration ?? 0;
  return videoOverhead(frames, seconds) + ((audio ? soundBits(audio, source) : 0) * seconds) / 8;
}

/** Returns the bits per second beyond which a plan's video of a target size gains nothing: those of the source, at the plan's speed. */
export function maxVideoBits({ speed = 1, further = [] }: Plan, source: Source): number {
  const { max } = BOUNDS.video_bitrate;
  const own = further.some(({ role }) => role === "concat") ? null : streamBits(source, "video");
  if (own === null) return max;
  return Math.min(max, Math.max(VIDEO_FLOOR, Math.round(own * speed * TARGET_SHARE.video)));
}

/** Returns the bits per second beyond which lossy audio only grows: those of the source, infinite when unknown. */
export function maxAudioBits(source: Source): number {
  return streamBits(source, "audio") ?? Number.POSITIVE_INFINITY;
}

/**
 * Returns the bytes of an output that copies the source's pictures, or its sound alone; null when it encodes them or the source's
 * size is unknown.
 */
export function copiedBytes(plan: Plan, source: Source): { min: number; max: number } | null {
  const { kind, video, audio, frames, start, end } = plan;
  const { filesize, duration = 0 } = source;
  const first = kind === "video" ? video : audio;
  const isWhole = start === 0 && end === null && plan.speed === undefined && plan.concat === undefined;
  if (first?.mode !== "copy" || !isWhole || filesize === undefined) return null;
  if (kind === "audio" && source.kind !== "audio") return null;
  const encoded =
    audio?.mode === "encode" ? soundBits(audio, source) - (streamBits(source, "audio") ?? 0) : 0;
  const sound = Math.max(0, (encoded * duration) / 8);
  const packets = (frames ?? 0) + (duration * (source.audio?.sample_rate ?? 0)) / PACKET_SAMPLES;
  const min = Math.ceil(filesize + sound);
  return {
    min,
    max: Math.ceil(filesize + sound + packets * packetGrowth(source, plan) + containerOf(plan).copy_bytes),
  };
}

// Extra bytes per packet in another container, measured on clips of one and ten minutes.
function packetGrowth({ format: from }: Source, { kind, format: to }: Plan): number {
  if (isAlike(from, to)) return kind === "video" ? ALIKE_GROWTH : 0;
  return kind === "audio" ? SOUND_GROWTH : CONTAINER_BYTES.packet;
}

const ALIKE_GROWTH = 3;
const SOUND_GROWTH = 4;

/** Returns whether a copy between two containers keeps its size. */
export function isAlike(from: string, to: string): boolean {
  const { family } = containerOf({ format: from });
  return from === to || (family !== undefined && family === containerOf({ format: to }).family);
}

const DEFAULT_RATE = 48_000;

function soundBits(audio: NonNullable<Plan["audio"]>, source: Source): number {
  if (audio.mode === "encode") return (audio.bitrate ?? 0) + packetBits(audio.sample_rate);
  return (streamBits(source, "audio") ?? 0) + packetBits(source.audio?.sample_rate ?? DEFAULT_RATE);
}

/** Bits of footage as a share of those of noise, on which BITS_PER_PIXEL was measured: 5 Mbit/s at 1080p and x264's CRF 23. */
export const FOOTAGE_SHARE = 0.4;

/** Returns the quality that typical footage has at a plan's bitrate; `poor` below the lowest, null when the plan has no video bitrate. */
export function typicalQuality(video: VideoPlan | null, source: Source): Quality | "poor" | null {
  if (video?.mode !== "encode" || !("bitrate" in video.rate)) return null;
  const { width, height } = video.geometry;
  const { codec, rate } = video;
  const fps = video.fps ?? source.fps ?? DEFAULT_FPS;
  const pictures = { width, height, fps };
  const bitrateOf = (quality: Quality) => {
    const crf = CRF[codec][quality];
    const typical = FOOTAGE_SHARE * bitsFor(codec, crf, { ...pictures, source_bits: null });
    return Math.min(typical, bitsFor(codec, crf, { ...pictures, source_bits: sourceBits(source, pictures) }));
  };
  return QUALITIES.findLast((quality) => bitrateOf(quality) <= rate.bitrate) ?? "poor";
}

/** The rungs of the ladder of adaptive video: short side in pixels, and highest bits per second. */
export const RUNGS = [
  { side: 240, maxrate: 400_000 },
  { side: 360, maxrate: 900_000 },
  { side: 480, maxrate: 1_600_000 },
  { side: 720, maxrate: 3_000_000 },
  { side: 1080, maxrate: 5_500_000 },
  { side: 1440, maxrate: 9_000_000 },
  { side: 2160, maxrate: 16_000_000 },
] as const;

const RULES = { even: true, alpha: false } as const;

/** The options that determine the renditions of a ladder. */
export interface LadderOptions extends GeometryOptions {
  quality?: Quality | undefined;
  codecs?: readonly CodecName[] | undefined;
}

/**
 * Chooses the renditions of a ladder, best first: the requested or source size, never upscaled, and the rungs below it, in H.264 and
 * then in each further codec.
 */
export function createLadder(stored: StoredPicture, options: LadderOptions): Rendition[] {
  const rungs = createRungs(stored, options);
  const { quality = "medium" } = options;
  const others = furtherCodecs(options.codecs).flatMap((codec) =>
    rungs.map(({ name, side, ...rung }) => ({
      ...rung,
      name: `${name}_${codec}`,
      rate: { crf: CRF[codec][quality], maxrate: Math.round(maxrateFor(side) * MAXRATE_SHARE[codec]) },
      codec,
    })),
  );
  return [...rungs.map(({ side: _, ...rung }) => rung), ...others];
}

// At these shares of H.264's highest bitrate, the SSIM is at least as high.
const MAXRATE_SHARE = { h265: 0.75, av1: 0.75 } as const;

function createRungs(stored: StoredPicture, options: LadderOptions) {
  const view = createView(stored, options);
  const { top, aspect } = topSize(view.displaySize, options);
  const square = stored.pixel_aspect === 1;
  const side = Math.min(top.width, top.height);
  const sides = [side, ...RUNGS.map((rung) => rung.side).filter((rung) => rung < side)];
  const crf = CRF.h264[options.quality ?? "medium"];
  return sides
    .toSorted((a, b) => b - a)
    .map((rung) => ({
      name: `${rung}p`,
      side: rung,
      geometry: geometryFor(view, rung === side ? top : sizeOf(rung, aspect), options, RULES, square),
      rate: { crf, maxrate: maxrateFor(rung) },
      fps: null,
    }));
}

function sizeOf(side: number, aspect: number): Size {
  const width = side * Math.max(1, aspect);
  const height = side / Math.min(1, aspect);
  return { width: snap(width, true), height: snap(height, true) };
}

/** Returns the highest bits per second for a short side in pixels, interpolating between rungs. */
export function maxrateFor(side: number): number {
  const above = RUNGS.findIndex((rung) => rung.side >= side);
  const upper = RUNGS[above] ?? RUNGS[RUNGS.length - 1];
  const lower = RUNGS[above - 1];
  if (!upper) throw errors.noRungs();
  if (!lower || upper.side <= side) return upper.maxrate;
  const share = (side - lower.side) / (upper.side - lower.side);
  return Math.round(lower.maxrate + share * (upper.maxrate - lower.maxrate));
}

function topSize(displaySize: Size, options: GeometryOptions): { top: Size; aspect: number } {
  const target = targetSize(displaySize, options, { even: true });
  const across = target.width / displaySize.width;
  const down = target.height / displaySize.height;
  const contains = (options.fit ?? (options.background === undefined ? "fill" : "contain")) === "contain";
  const enlarged = contains ? Math.min(across, down) : Math.max(across, down);
  const highest = RUNGS[RUNGS.length - 1]?.side ?? Number.POSITIVE_INFINITY;
  const scale = Math.min(1, 1 / enlarged, highest / Math.min(target.width, target.height));
  const both = options.width !== undefined && options.height !== undefined;
  return {
    top: { width: snap(target.width * scale, true), height: snap(target.height * scale, true) },
    // With a single requested side, the source's ratio is more exact than that of the even size.
    aspect: both ? target.width / target.height : displaySize.width / displaySize.height,
  };
}
