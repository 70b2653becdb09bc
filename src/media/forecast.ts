import { containerOf, isVector } from "./containers.ts";
import { createPlan } from "./create-plan.ts";
import { isLosslessSource, pcmBits } from "./features/audio-format.ts";
import { DEFAULT_FPS } from "./features/fps.ts";
import { flattens } from "./features/transparency.ts";
import type { EncodeKind, Quality } from "./formats.ts";
import type { OptionsOf } from "./options.ts";
import { displayedSize, storedPicture } from "./picture-geometry.ts";
import type { Geometry, Plan } from "./plan.ts";
import {
  bitsFor,
  CONTAINER_BYTES,
  copiedBytes,
  FOOTAGE_SHARE,
  isAlike,
  packetBits,
  sourceBits,
  streamBits,
  typicalQuality,
} from "./rates.ts";
import type { Source } from "./source.ts";

/** The facts of an output that are known before the work starts; `bytes` is an estimate. */
export interface Forecast {
  /** Output format, a key of FORMATS. */
  format: string;
  /** Width in pixels, of the best rendition for adaptive video; null for sound alone. */
  width: number | null;
  /** Height in pixels, of the best rendition for adaptive video; null for sound alone. */
  height: number | null;
  /** Duration in seconds; null for a still, and when unknown. */
  duration: number | null;
  /** Whether pictures are upscaled, which adds no detail; always false for an SVG. */
  enlarged: boolean;
  /** Whether pictures and sound are copied losslessly. */
  copied: boolean;
  /** Short sides of the renditions of adaptive video in pixels, best first. */
  renditions: number[];
  /** The number of pictures of a storyboard or a series of stills; null for any other output. */
  pictures: number | null;
  /**
   * Estimated size of the file in bytes, from its bitrates and the overhead of its container, and never above `target_size`; null when
   * the size depends on the pictures. The actual file may be smaller or larger.
   */
  bytes: number | null;
  /**
   * The quality level to which the video bitrate corresponds for typical pictures, `poor` below the lowest; null when none is set.
   */
  quality: Quality | "poor" | null;
}

/**
 * Predicts the output of a source with the options of a kind.
 *
 * @throws the errors of `createPlan`: the source lacks what the kind needs, or the options do not suit it.
 */
export function forecast<K extends EncodeKind>(kind: K, options: OptionsOf<K>, source: Source): Forecast {
  const plan = createPlan(source, kind, options);
  const geometry = geometryOf(plan);
  const picture = geometry ?? plan.waveform?.picture ?? null;
  const size = picture ?? (plan.video?.mode === "copy" ? shownSize(source) : null);
  const tracks = [plan.video, plan.audio].filter((track) => track !== null);
  const bytes = leastOf(bytesOf(plan, source), copiedBytes(plan, source)?.max ?? null);
  const limit = "target_size" in options ? options.target_size : undefined;
  return {
    format: plan.format,
    width: size?.width ?? null,
    height: size?.height ?? null,
    duration: plan.duration,
    enlarged: geometry !== null && !isVector(source) && isEnlarged(geometry, source),
    copied: tracks.length > 0 && tracks.every(({ mode }) => mode === "copy"),
    renditions: [
      ...new Set(plan.renditions.map(({ geometry: { width, height } }) => Math.min(width, height))),
    ],
    pictures: plan.image?.sheet?.tiles ?? null,
    bytes: bytes === null || limit === undefined ? bytes : Math.min(bytes, limit),
    quality: typicalQuality(plan.video, source),
  };
}

function geometryOf({ image, video, renditions }: Plan): Geometry | null {
  if (image) return image.geometry;
  if (renditions[0]) return renditions[0].geometry;
  return video?.mode === "encode" ? video.geometry : null;
}

function shownSize(source: Source) {
  const stored = storedPicture(source);
  return stored && displayedSize(stored);
}

function isEnlarged({ crop, scale, rotate, width, height }: Geometry, source: Source): boolean {
  const stored = storedPicture(source);
  if (!stored || !scale) return false;
  const displaySize = displayedSize({ ...stored, rotate });
  const turned = rotate % 180 === 0 ? stored : { width: stored.height, height: stored.width };
  const part = crop
    ? {
        width: (crop.width * displaySize.width) / turned.width,
        height: (crop.height * displaySize.height) / turned.height,
      }
    : displaySize;
  const output = { width: Math.min(scale.width, width), height: Math.min(scale.height, height) };
  return output.width > part.width + 1 || output.height > part.height + 1;
}

function leastOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

const DEFAULT_SAMPLE_RATE = 48_000;

function bytesOf({ kind, format, duration, frames, video, audio }: Plan, source: Source): number | null {
  if (duration === null || (kind !== "video" && kind !== "audio")) return null;
  const pictures = video ? trackBits(video, source, "video") : 0;
  const sound = audio ? trackBits(audio, source, "audio") : 0;
  if (pictures === null || sound === null) return null;
  const sample_rate = audio?.mode === "encode" ? audio.sample_rate : source.audio?.sample_rate;
  const packets = audio ? (duration * packetBits(sample_rate ?? DEFAULT_SAMPLE_RATE)) / 8 : 0;
  const overhead =
    containerOf({ format }).header_bytes ??
    CONTAINER_BYTES[kind] + (frames ?? 0) * CONTAINER_BYTES.picture + packets;
  return Math.round(((pictures + sound) * duration) / 8 + overhead);
}

function trackBits(
  track: NonNullable<Plan["video"] | Plan["audio"]>,
  source: Source,
  kind: "video" | "audio",
): number | null {
  if (track.mode === "copy") return streamBits(source, kind);
  if ("rate" in track) return "bitrate" in track.rate ? track.rate.bitrate : null;
  const bits = pcmBits(track.codec);
  if (bits !== null) return bits * track.channels * track.sample_rate;
  return track.bitrate;
}

/**
 * Returns whether an output is likely to be larger than its source without being better: of the same kind, with no more pixels,
 * frames or seconds. Estimates from typical pictures and sound; false when in doubt.
 *
 * @throws the errors of `createPlan`.
 */
export function expectsLarger<K extends EncodeKind>(kind: K, options: OptionsOf<K>, source: Source): boolean {
  const { filesize } = source;
  const own = kind === "animation" ? "image" : kind;
  if (own !== source.kind || filesize === undefined || ("concat" in options && options.concat)) return false;
  const { enlarged } = forecast(kind, options, source);
  const plan = createPlan(source, kind, options);
  const isFaster = plan.video?.mode === "encode" && (plan.video.fps ?? 0) > (source.fps ?? DEFAULT_FPS);
  // The bytes of a source's alpha are unknown, and a flattened output has none of them.
  if (enlarged || isFaster || (source.has_alpha === true && flattens(plan))) return false;
  return (expectedBytes(plan, source) ?? 0) > filesize;
}

function expectedBytes(plan: Plan, source: Source): number | null {
  const copied = copiedBytes(plan, source);
  if (copied) return isAlike(source.format, plan.format) ? copied.min : copied.max;
  if (plan.image) return expectedPicture(plan, source);
  const { duration, video, audio } = plan;
  if (duration === null) return null;
  const bits = [expectedPictures(plan, source), audio ? expectedSound(audio, source) : 0];
  if ((!video && !audio) || bits.some((each) => each === null)) return null;
  return bits.reduce<number>((sum, each) => sum + ((each ?? 0) * duration) / 8, 0);
}

function expectedPictures({ video }: Plan, source: Source): number | null {
  if (!video) return 0;
  if (video.mode === "copy") return streamBits(source, "video");
  if ("bitrate" in video.rate) return video.rate.bitrate;
  const { width, height } = video.geometry;
  const pictures = { width, height, fps: video.fps ?? source.fps ?? DEFAULT_FPS };
  const { codec, rate } = video;
  const source_bits = sourceBits(source, pictures);
  if (source_bits === null) return null;
  const typical = FOOTAGE_SHARE * bitsFor(codec, rate.crf, { ...pictures, source_bits: null });
  return Math.min(typical, bitsFor(codec, rate.crf, { ...pictures, source_bits }));
}

// FLAC compresses samples to a little more than half.
const LOSSLESS_SHARE = 0.55;
const PCM_BITS = 16;

function expectedSound(audio: NonNullable<Plan["audio"]>, source: Source): number | null {
  if (audio.mode === "copy") return streamBits(source, "audio");
  if (audio.bitrate !== null) return audio.bitrate;
  if (audio.codec === "flac" && isLosslessSource(source.codecs?.audio ?? "")) return null;
  const bits = pcmBits(audio.codec) ?? PCM_BITS * LOSSLESS_SHARE;
  return bits * audio.channels * audio.sample_rate;
}

// Bits per pixel of photographs at the default quality.
const PHOTO_BITS: Readonly<Record<string, number>> = { jpeg: 1.2, webp: 0.9, avif: 0.6 };

function expectedPicture({ image, format }: Plan, source: Source): number | null {
  if (!image || image.sheet || image.max_bytes !== undefined) return null;
  const { width, height } = image.geometry;
  const isSame = width === source.width && height === source.height;
  // A regenerated palette rarely compresses better.
  if (image.animated) return format === source.format && isSame ? (source.filesize ?? 0) + 1 : null;
  const isLossy = source.format in PHOTO_BITS && format in PHOTO_BITS;
  return isLossy ? ((PHOTO_BITS[format] ?? 0) * width * height) / 8 : null;
}
