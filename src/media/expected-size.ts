import { createPlan } from "./create-plan.ts";
import { isLosslessSource } from "./features/audio-format.ts";
import { DEFAULT_FPS } from "./features/fps.ts";
import { forecast } from "./forecast.ts";
import type { EncodeKind } from "./formats.ts";
import type { OptionsOf } from "./options.ts";
import type { Plan } from "./plan.ts";
import { bitsFor, copiedBytes, FOOTAGE_SHARE, isAlike, sourceBits, streamBits } from "./rates.ts";
import type { Source } from "./source.ts";

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
  if (enlarged || isFaster) return false;
  return (expectedBytes(plan, source) ?? 0) > filesize;
}

function expectedBytes(plan: Plan, source: Source): number | null {
  const copied = copiedBytes(plan, source);
  if (copied) return isAlike(source.format, plan.format) ? copied.least : copied.most;
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
  const bits = Number(/^pcm_[sf](\d+)/.exec(audio.codec)?.[1] ?? PCM_BITS * LOSSLESS_SHARE);
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
