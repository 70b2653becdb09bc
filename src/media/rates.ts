import { DEFAULT_FPS } from "./features/fps.ts";
import type { GeometryOptions } from "./features/geometry.ts";
import { type AudioCodec, type ImageFormat, QUALITIES, type Quality, type VideoCodec } from "./formats.ts";
import {
  createView,
  geometryFor,
  type Size,
  type StoredPicture,
  snap,
  targetSize,
} from "./picture-geometry.ts";
import type { Plan, Rate, Rendition, VideoPlan } from "./plan.ts";
import { errorFor } from "./reasons.ts";
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

/** Constant rate factor of each video codec; adjacent quality levels differ by about 40 % in size, as in Zencoder. */
export const CRF = {
  h264: byQuality(31, 27, 23, 20, 17),
  h265: byQuality(36, 32, 28, 24, 21),
  vp9: byQuality(43, 37, 32, 27, 22),
  av1: byQuality(50, 43, 35, 30, 25),
} as const satisfies Record<VideoCodec, ByQuality>;

const AAC_MP3 = byQuality(64_000, 96_000, 128_000, 192_000, 256_000);
const OPUS_VORBIS = byQuality(48_000, 64_000, 96_000, 128_000, 192_000);

/** Bits per second of each audio codec that has a bitrate. */
export const AUDIO_BITRATE = { aac: AAC_MP3, mp3: AAC_MP3, opus: OPUS_VORBIS, vorbis: OPUS_VORBIS } as const;

/** FLAC compression level: the sound is identical, the file smaller and the encode slower. */
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
export function imageQuality(format: ImageFormat, quality: Quality = "medium"): number | null {
  return IMAGE_QUALITY[format]?.[quality] ?? null;
}

/** Values measured at some rate factors, in ascending order. */
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

// Plain pictures show in the source's own bitrate; more than this many times that is wasted.
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
// Neighboring pixels of a larger picture are more alike.
const LARGER = -0.25;

export interface PictureRate extends Size {
  fps: number;
  /** The source's bits per second for as many pixels; null when unknown. */
  source_bits: number | null;
}

/** Returns the bits per second at which typical pictures match a CRF; fewer for pictures that their source shows to be plain. */
export function bitsFor(codec: VideoCodec, crf: number, pictures: PictureRate): number {
  const pixels = pictures.width * pictures.height;
  const anchors = BITS_PER_PIXEL[codec].map(([at, bits]) => [at, Math.log(bits)] as const);
  const bits = Math.exp(between(anchors, crf)) * (pixels / REFERENCE) ** LARGER;
  const wanted = bits * pixels * pictures.fps;
  const { source_bits } = pictures;
  const most = source_bits === null ? wanted : source_bits * between(TIMES_SOURCE[codec], crf);
  return Math.round(Math.min(wanted, most));
}

// Fewer pixels take more bits each, because neighbors are less alike.
const FEWER = 0.75;

/** Scales a source's bits per second to pictures of another size and rate, but never above its own; null when unknown. */
export function sourceBits(source: Source, { width, height, fps }: Size & { fps: number }): number | null {
  const bitrate = streamBits(source, "video");
  const pixels = (source.coded_width ?? width) * (source.coded_height ?? height) * (source.fps ?? fps);
  return bitrate === null ? null : bitrate * Math.min(1, (width * height * fps) / pixels) ** FEWER;
}

/**
 * Returns the bits per second of a source's pictures or sound, estimated as the file's minus the other's if necessary; null
 * when neither is known.
 */
export function streamBits(source: Source, kind: "video" | "audio"): number | null {
  const own = ownBits(source, kind);
  if (own) return own;
  // The file's total includes pictures and says nothing about the sound.
  if (kind === "audio" && source.codecs?.video) return null;
  const all = source.bitrate ?? 0;
  const sound = kind === "video" ? ownBits(source, "audio") : 0;
  return (all > sound ? all - sound : all) || null;
}

function ownBits(source: Source, kind: "video" | "audio"): number {
  return source.streams?.find((stream) => stream.kind === kind)?.bitrate ?? 0;
}

/** Interpolates between the two nearest anchors; extrapolates beyond the last. */
export function between(anchors: Anchors, crf: number): number {
  const found = anchors.findIndex(([at]) => at >= crf);
  const above = found === -1 ? anchors.length - 1 : Math.max(1, found);
  const [low, high] = [anchors[above - 1], anchors[above]];
  if (!low || !high) throw new RangeError("The rate has too few anchors.");
  return low[1] + ((crf - low[0]) / (high[0] - low[0])) * (high[1] - low[1]);
}

/** Container overhead in bytes: once per file with pictures, once per file of sound alone, per picture, and per audio packet. */
export const CONTAINER_BYTES = { video: 4_000, audio: 1_000, picture: 20, packet: 9 } as const;

/** Share of a target size to request from an encoder, whose average is only approximate. */
export const FILLED = { video: 0.9, audio: 0.96 } as const;

// Samples per AAC packet; the other codecs have about as many.
const PACKET_SAMPLES = 1024;

/** Returns the container overhead of audio packets in bits per second. */
export function packetBits(sample_rate: number): number {
  return (sample_rate / PACKET_SAMPLES) * CONTAINER_BYTES.packet * 8;
}

/** Returns the bytes of a video file that are neither pictures nor sound. */
export function videoOverhead(frames: Plan["frames"], seconds: number): number {
  return CONTAINER_BYTES.video + (frames ?? seconds * DEFAULT_FPS) * CONTAINER_BYTES.picture;
}

/** Bits per second below which even the smallest pictures are unrecognizable. */
export const VIDEO_FLOOR = 24_000;

/**
 * Returns the bits per second left for a plan's pictures within a number of bytes; throws `invalid_options` when the
 * duration is unknown or too little is left.
 */
export function videoBitsWithin(bytes: number, { duration, frames, audio }: Plan, source: Source): number {
  const param = "options.target_size";
  if (duration === null) throw errorFor("invalid_options", { code: "size_unknown_duration" }, { param });
  const sound = audio ? soundBits(audio, source) : 0;
  const left = ((bytes - videoOverhead(frames, duration)) * 8) / duration - sound;
  const bitrate = Math.round(left * FILLED.video);
  if (bitrate >= VIDEO_FLOOR) return bitrate;
  throw errorFor("invalid_options", { code: "size_too_small", bytes, duration }, { param });
}

const DEFAULT_RATE = 48_000;

function soundBits(audio: NonNullable<Plan["audio"]>, source: Source): number {
  if (audio.mode === "encode") return (audio.bitrate ?? 0) + packetBits(audio.sample_rate);
  return (streamBits(source, "audio") ?? 0) + packetBits(source.audio?.sample_rate ?? DEFAULT_RATE);
}

// The bits of each quality were measured on noise; camera footage takes about 5 Mbit/s at 1080p and x264's CRF 23.
const USUAL = 0.4;

/** Returns the quality that typical pictures have at a plan's bitrate; `poor` below the lowest, null when no bitrate applies. */
export function usualQuality(video: VideoPlan | null, source: Source): Quality | "poor" | null {
  if (video?.mode !== "encode" || !("bitrate" in video.rate)) return null;
  const { width, height } = video.geometry;
  const { codec, rate } = video;
  const fps = video.fps ?? source.fps ?? DEFAULT_FPS;
  const pictures = { width, height, fps };
  const needed = (quality: Quality) => {
    const crf = CRF[codec][quality];
    const usual = USUAL * bitsFor(codec, crf, { ...pictures, source_bits: null });
    return Math.min(usual, bitsFor(codec, crf, { ...pictures, source_bits: sourceBits(source, pictures) }));
  };
  return QUALITIES.findLast((quality) => needed(quality) <= rate.bitrate) ?? "poor";
}

/** The rungs of adaptive video: pixels of the short side, and the highest bits per second. */
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

/**
 * Chooses the renditions of an h264 ladder, best first: the rungs up to the source's or requested size, never upscaled, and
 * that size itself.
 */
export function createLadder(
  stored: StoredPicture,
  options: GeometryOptions & { quality?: Quality | undefined },
): Rendition[] {
  const view = createView(stored, options);
  const { top, aspect } = topSize(view.shown, options);
  const square = stored.pixel_aspect === 1;
  const side = Math.min(top.width, top.height);
  const sides = [side, ...RUNGS.map((rung) => rung.side).filter((rung) => rung < side)];
  const crf = CRF.h264[options.quality ?? "medium"];
  return sides
    .toSorted((a, b) => b - a)
    .map((wanted) => ({
      name: `${wanted}p`,
      geometry: geometryFor(view, wanted === side ? top : sizeOf(wanted, aspect), options, RULES, square),
      rate: { crf, maxrate: maxrateFor(wanted) },
      fps: null,
    }));
}

function sizeOf(side: number, aspect: number): Size {
  const width = side * Math.max(1, aspect);
  const height = side / Math.min(1, aspect);
  return { width: snap(width, true), height: snap(height, true) };
}

/** Returns the highest bits per second for a short side in pixels, interpolated between rungs. */
export function maxrateFor(side: number): number {
  const above = RUNGS.findIndex((rung) => rung.side >= side);
  const upper = RUNGS[above] ?? RUNGS[RUNGS.length - 1];
  const lower = RUNGS[above - 1];
  if (!upper) throw new RangeError("The ladder has no rungs.");
  if (!lower || upper.side <= side) return upper.maxrate;
  const share = (side - lower.side) / (upper.side - lower.side);
  return Math.round(lower.maxrate + share * (upper.maxrate - lower.maxrate));
}

// The requested size sets the aspect ratio; when it would enlarge the picture, the ratio stays and the size shrinks.
function topSize(shown: Size, options: GeometryOptions): { top: Size; aspect: number } {
  const asked = targetSize(shown, options, { even: true });
  const across = asked.width / shown.width;
  const down = asked.height / shown.height;
  const contains = (options.fit ?? (options.background === undefined ? "fill" : "contain")) === "contain";
  const enlarged = contains ? Math.min(across, down) : Math.max(across, down);
  const highest = RUNGS[RUNGS.length - 1]?.side ?? Number.POSITIVE_INFINITY;
  const scale = Math.min(1, 1 / enlarged, highest / Math.min(asked.width, asked.height));
  const both = options.width !== undefined && options.height !== undefined;
  return {
    top: { width: snap(asked.width * scale, true), height: snap(asked.height * scale, true) },
    // A single requested side keeps the source's ratio, more exactly than its even size does.
    aspect: both ? asked.width / asked.height : shown.width / shown.height,
  };
}
