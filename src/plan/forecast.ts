import type { EncodeKind, Quality } from "../core/formats.ts";
import type { OptionsOf } from "../core/options.ts";
import type { Source } from "../core/source.ts";
import { streamBits } from "./bits.ts";
import { CONTAINER_BYTES, packetBits } from "./container-bytes.ts";
import { createPlan } from "./create-plan.ts";
import type { Geometry, Plan } from "./plan.ts";
import { displayedSize, storedPicture } from "./size.ts";
import { usualQuality } from "./usual-quality.ts";

/** What the output will be, as far as it is certain before the work starts. */
export interface Forecast {
  /** Output format, a key of FORMATS. */
  format: string;
  /** Width in pixels, of the best rendition for adaptive video; null for sound alone. */
  width: number | null;
  /** Height in pixels, likewise. */
  height: number | null;
  /** Duration in seconds; null for a still, and when unknown. */
  duration: number | null;
  /** Whether pictures become larger than the source's, which adds no detail; never for an SVG. */
  enlarged: boolean;
  /** Whether pictures and sound are copied losslessly. */
  copied: boolean;
  /** Short sides of the renditions of adaptive video in pixels, best first. */
  renditions: number[];
  /** How many pictures a storyboard or several stills have; null for any other output. */
  pictures: number | null;
  /** Size in bytes when the rates determine it; null when it depends on the pictures. */
  bytes: number | null;
  /**
   * The quality level that a bitrate corresponds to for typical pictures, `poor` below the lowest; null when no bitrate
   * applies.
   */
  quality: Quality | "poor" | null;
}

/**
 * Predicts the output of a source with the options of a kind.
 *
 * @throws what `createPlan` throws: the source lacks what the kind needs, or the options do not suit it.
 */
export function forecast<K extends EncodeKind>(kind: K, options: OptionsOf<K>, source: Source): Forecast {
  const plan = createPlan(source, kind, options);
  const geometry = geometryOf(plan);
  const drawn = geometry ?? plan.waveform?.picture ?? null;
  const size = drawn ?? (plan.video?.mode === "copy" ? shownSize(source) : null);
  const tracks = [plan.video, plan.audio].filter((track) => track !== null);
  return {
    format: plan.format,
    width: size?.width ?? null,
    height: size?.height ?? null,
    duration: plan.duration,
    enlarged: geometry !== null && source.format !== "svg" && isEnlarged(geometry, source),
    copied: tracks.length > 0 && tracks.every(({ mode }) => mode === "copy"),
    renditions: plan.renditions.map(({ geometry: { width, height } }) => Math.min(width, height)),
    pictures: plan.image?.sheet?.tiles ?? null,
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
  const shown = displayedSize({ ...stored, rotate });
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
  if (duration === null || (kind !== "video" && kind !== "audio")) return null;
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
