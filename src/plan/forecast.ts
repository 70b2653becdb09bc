import type { EncodeKind, Quality } from "../core/formats.ts";
import type { OptionsOf } from "../core/options.ts";
import type { Source } from "../core/source.ts";
import { streamBits } from "./bits.ts";
import { CONTAINER_BYTES, packetBits } from "./container-bytes.ts";
import { createPlan } from "./create-plan.ts";
import type { Geometry, Plan } from "./plan.ts";
import { displayedSize, storedPicture } from "./size.ts";
import { usualQuality } from "./usual-quality.ts";

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
    quality: usualQuality(plan.video, source),
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
