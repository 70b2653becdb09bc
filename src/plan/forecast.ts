import { type EncodeKind, QUALITIES, type Quality } from "../core/formats.ts";
import type { OptionsOf } from "../core/options.ts";
import type { Source } from "../core/source.ts";
import { bitsFor, sourceBits, streamBits } from "./bits.ts";
import { createPlan } from "./create-plan.ts";
import type { Geometry, Plan } from "./plan.ts";
import { CRF } from "./rate.ts";
import { displayedSize, storedPicture } from "./size.ts";
import { CONTAINER_BYTES, packetBits } from "./target-size.ts";

/** What will come of a source by some options, as far as it is certain before the work starts. */
export interface Forecast {
  /** Key of FORMATS. */
  format: string;
  /** Pixels of the output, of the best one for adaptive video; null for sound alone. */
  width: number | null;
  height: number | null;
  /** Seconds; null for a still, and where it is not known. */
  duration: number | null;
  /** True when pictures become larger than the source's, which adds no detail. */
  enlarged: boolean;
  /** True when pictures and sound are taken over as they are, without loss. */
  copied: boolean;
  /** Short sides in pixels of the streams of adaptive video, best first. */
  renditions: number[];
  /** Bytes of the output where its rates say them; null where they follow from the pictures. */
  bytes: number | null;
  /** Nearest quality of the pictures where a bitrate decides, for usual ones; `poor` below the lowest, null where no bitrate decides. */
  quality: Quality | "poor" | null;
}

/** Tells what will come of a source by the options of a kind; throws what `createPlan` throws where nothing can. */
export function forecast<K extends EncodeKind>(kind: K, options: OptionsOf<K>, source: Source): Forecast {
  const plan = createPlan(source, kind, options);
  const geometry = geometryOf(plan);
  const size = geometry ?? (plan.video?.mode === "copy" ? shownSize(source) : null);
  const tracks = [plan.video, plan.audio].filter((track) => track !== null);
  return {
    format: plan.format,
    width: size?.width ?? null,
    height: size?.height ?? null,
    duration: plan.duration,
    enlarged: geometry !== null && isEnlarged(geometry, source),
    copied: tracks.length > 0 && tracks.every(({ mode }) => mode === "copy"),
    renditions: plan.renditions.map(({ geometry: { width, height } }) => Math.min(width, height)),
    bytes: bytesOf(plan, source),
    quality: qualityOf(plan, source),
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
  const shown = displayedSize(stored);
  const turned = rotate % 180 === 0 ? stored : { width: stored.height, height: stored.width };
  const kept = crop
    ? {
        width: (crop.width * shown.width) / turned.width,
        height: (crop.height * shown.height) / turned.height,
      }
    : shown;
  const made = { width: Math.min(scale.width, width), height: Math.min(scale.height, height) };
  // One pixel more is rounding.
  return made.width > kept.width + 1 || made.height > kept.height + 1;
}

const DEFAULT_SAMPLE_RATE = 48_000;

function bytesOf({ kind, format, duration, frames, video, audio }: Plan, source: Source): number | null {
  if (duration === null || kind === "image" || kind === "adaptive_video") return null;
  const pictures = video ? trackBits(video, source, "video") : 0;
  const sound = audio ? trackBits(audio, source, "audio") : 0;
  if (pictures === null || sound === null) return null;
  const sample_rate = audio?.mode === "encode" ? audio.sample_rate : source.audio?.sample_rate;
  const packets = audio ? (duration * packetBits(sample_rate ?? DEFAULT_SAMPLE_RATE)) / 8 : 0;
  const beside =
    format === "wav" ? 44 : CONTAINER_BYTES[kind] + (frames ?? 0) * CONTAINER_BYTES.picture + packets;
  return Math.round(((pictures + sound) * duration) / 8 + beside);
}

function trackBits(
  track: NonNullable<Plan["video"] | Plan["audio"]>,
  source: Source,
  kind: "video" | "audio",
): number | null {
  if (track.mode === "copy") return streamBits(source, kind);
  if ("rate" in track) return "bitrate" in track.rate ? track.rate.bitrate : null;
  if (track.codec === "pcm_s16le") return 16 * track.channels * track.sample_rate;
  return track.bitrate;
}

const DEFAULT_FPS = 30;

// The bits of a quality were measured on noise; footage of a camera takes about 5 Mbit/s at 1080p and x264's CRF 23.
const USUAL = 0.4;

function qualityOf({ video }: Plan, source: Source): Quality | "poor" | null {
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
