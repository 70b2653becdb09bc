import {
  BOUNDS,
  DEFAULT_FORMAT,
  type EncodeKind,
  FORMATS,
  type OptionsOf,
  type Source,
  type viewOf,
} from "../../src/index.ts";
import { type AllOptions, optionNames } from "../../src/media/features.ts";
import type { Wishes } from "../queue/item.ts";

const FRAME = ["rotate", "flip", "crop", "width", "height", "fit", "position", "background"] as const;
const SPAN = ["start", "end"] as const;
const SOUND = [
  "track",
  "channels",
  "sample_rate",
  "volume",
  "normalize",
  "target_lufs",
  "fade_in",
  "fade_out",
] as const;
const SOUNDTRACK = [...SOUND, "mute"] as const;

export const OPTION_NAMES = {
  video: [
    "format",
    "codec",
    "mode",
    "quality",
    ...FRAME,
    "fps",
    "bitrate",
    "audio_codec",
    "audio_bitrate",
    ...SOUNDTRACK,
    ...SPAN,
    ...optionNames("video"),
    "subtitles",
    "concat",
    "metadata",
  ],
  audio: ["format", "mode", "quality", "bitrate", ...SOUND, ...SPAN, ...optionNames("audio"), "metadata"],
  image: ["format", "quality", ...FRAME, "start", "max_bytes", ...optionNames("image"), "interval", "count"],
  animation: ["format", "quality", ...FRAME, "fps", "loop", ...SPAN],
  storyboard: ["format", "quality", "width", "interval", "columns", "rows", ...SPAN],
  waveform: [
    ...["format", "samples_per_pixel", "pixels_per_second", "points", "bits", "split_channels"],
    ...["track", "width", "height", "waveform_color", "background_color"],
    ...SPAN,
  ] as const,
  adaptive_video: ["format", "i_frames", "quality", ...FRAME, ...SOUNDTRACK, ...SPAN, "subtitles"],
} as const satisfies { [K in EncodeKind]: readonly string[] };

/** All options of all kinds by name, as the fields of a form read them. */
export interface AnyOptions extends AllOptions {
  format?: string | undefined;
  i_frames?: boolean | undefined;
  codec?: string | undefined;
  mode?: OptionsOf<"video">["mode"];
  quality?: OptionsOf<"video">["quality"];
  rotate?: OptionsOf<"video">["rotate"];
  flip?: OptionsOf<"video">["flip"];
  crop?: Parameters<typeof viewOf>[1]["crop"];
  max_bytes?: number | undefined;
  interval?: number | undefined;
  count?: number | undefined;
  columns?: number | undefined;
  rows?: number | undefined;
  width?: number | string | undefined;
  height?: number | string | undefined;
  fit?: OptionsOf<"video">["fit"];
  position?: OptionsOf<"video">["position"];
  background?: string | undefined;
  fps?: number | undefined;
  loop?: number | undefined;
  bitrate?: number | undefined;
  audio_codec?: OptionsOf<"video">["audio_codec"];
  audio_bitrate?: number | undefined;
  track?: number | string | undefined;
  channels?: number | undefined;
  sample_rate?: number | undefined;
  volume?: number | undefined;
  normalize?: boolean | undefined;
  target_lufs?: number | undefined;
  fade_in?: number | undefined;
  fade_out?: number | undefined;
  mute?: boolean | undefined;
  samples_per_pixel?: number | undefined;
  pixels_per_second?: number | undefined;
  points?: number | undefined;
  bits?: OptionsOf<"waveform">["bits"];
  split_channels?: boolean | undefined;
  waveform_color?: string | undefined;
  background_color?: string | undefined;
  start?: number | undefined;
  end?: number | undefined;
  subtitles?:
    | {
        url: string;
        language?: string | undefined;
        label?: string | undefined;
        default?: boolean | undefined;
        burn?: boolean | undefined;
      }[]
    | undefined;
  concat?: { url: string }[] | undefined;
  metadata?: OptionsOf<"video">["metadata"];
}

/** Returns the kinds of output that make sense for a source: sound has no pictures, and a still has no timeline. */
export function kindsFor(source: Source): EncodeKind[] {
  const { kind, codecs, animated } = source;
  if (kind === "audio") return ["audio", "waveform", "adaptive_video"];
  if (kind === "image") return animated ? ["image", "animation", "video"] : ["image"];
  const silent = codecs !== undefined && codecs.audio === null;
  return silent
    ? ["video", "image", "animation", "storyboard", "adaptive_video"]
    : ["video", "audio", "image", "animation", "storyboard", "waveform", "adaptive_video"];
}

/** Returns the format of an output whose options name none. */
export function formatOf(kind: EncodeKind, options: AnyOptions, source: Source): string {
  if (options.format !== undefined) return options.format;
  const keeps = kind === "image" && source.kind === "image" && source.format in FORMATS.image;
  return keeps ? source.format : DEFAULT_FORMAT[kind];
}

export function hasBitrate(kind: EncodeKind, format: string): boolean {
  return kind === "video" || (kind === "audio" && format !== "wav" && format !== "flac");
}

/** Returns the bounds of the bitrate of a kind, in bits per second. */
export function bitrateBounds(kind: EncodeKind): { min: number; max: number } {
  return kind === "audio" ? BOUNDS.audio_bitrate : BOUNDS.video_bitrate;
}

/** Converts options to another kind, keeping those that both have. */
export function turnInto(kind: EncodeKind, { options, kind: from, ...wishes }: Wishes): Wishes {
  const known: readonly string[] = OPTION_NAMES[kind];
  // Formats, what may be copied into them, and what counts as a high bitrate, differ between kinds.
  const { overlay }: AnyOptions = options;
  const all = { ...options, ...(overlay && kind !== "video" && { overlay: untimed(overlay) }) };
  const kept = Object.entries(all).filter(
    ([name]) =>
      known.includes(name) &&
      !["format", "codec", "mode", "bitrate"].includes(name) &&
      suits(kind, from, name),
  );
  return {
    ...wishes,
    kind,
    options: Object.fromEntries(kept),
    target_size: hasBitrate(kind, DEFAULT_FORMAT[kind]) ? wishes.target_size : null,
    preset: null,
  };
}

// A logo on a picture has no time.
function untimed({ start: _start, end: _end, ...overlay }: NonNullable<AnyOptions["overlay"]>) {
  return overlay;
}

// A waveform is not drawn by default, and the pixels of a storyboard are those of a tile.
const SIZED_APART: ReadonlySet<EncodeKind> = new Set(["waveform", "storyboard"]);

function suits(kind: EncodeKind, from: EncodeKind, name: string): boolean {
  return !(SIZED_APART.has(kind) || SIZED_APART.has(from)) || (name !== "width" && name !== "height");
}

/** Changes options; undefined restores a default. The result no longer counts as a preset. */
export function withOptions(wishes: Wishes, changes: AnyOptions): Wishes {
  const all = Object.entries({ ...wishes.options, ...changes }).filter(([, value]) => value !== undefined);
  return { ...wishes, options: Object.fromEntries(all), preset: null };
}
