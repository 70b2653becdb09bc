import {
  BOUNDS,
  DEFAULT_FORMAT,
  type EncodeKind,
  FORMATS,
  type OptionsOf,
  type Source,
} from "../../src/index.ts";
import type { AutoQuality } from "../../src/media/formats.ts";
import { isLosslessFormat } from "../../src/media/formats.ts";
import { type AllOptions, optionNames, withoutTimes } from "../../src/media/option-groups.ts";
import type { Settings } from "../queue/item.ts";

const OWN_NAMES: Readonly<Record<EncodeKind, readonly string[]>> = {
  video: ["format", "codec", "mode"],
  audio: ["format", "mode"],
  image: ["format"],
  animation: ["format"],
  storyboard: ["format"],
  waveform: ["format"],
  adaptive_video: ["format"],
};

// The form stores its values, so it takes no key; the size limit is a separate setting.
const NOT_OFFERED: ReadonlySet<string> = new Set(["encryption", "target_size"]);

/** Returns the names of a kind's options that the form offers. */
export function offeredNames(kind: EncodeKind): string[] {
  return [...OWN_NAMES[kind], ...optionNames(kind)].filter((name) => !NOT_OFFERED.has(name));
}

/** All options of all kinds by name, as the fields of a form read them. */
export interface AnyOptions extends Omit<AllOptions, "quality"> {
  quality?: AutoQuality | undefined;
  format?: string | undefined;
  codec?: string | undefined;
  mode?: OptionsOf<"video">["mode"];
}

/** The kinds of output whose quality can be measured. */
export const MEASURABLE: ReadonlySet<string> = new Set([
  "video",
  "image",
  "animation",
] satisfies EncodeKind[]);

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
  return (kind === "video" || kind === "audio") && !isLosslessFormat(kind, format);
}

/** Returns the bounds of the bitrate of a kind, in bits per second. */
export function bitrateBounds(kind: EncodeKind): { min: number; max: number } {
  return kind === "audio" ? BOUNDS.audio_bitrate : BOUNDS.video_bitrate;
}

/** Converts options to another kind, keeping those that both have. */
export function withKind(kind: EncodeKind, { options, kind: from, ...settings }: Settings): Settings {
  const names = offeredNames(kind);
  const entries = Object.entries(withoutTimes(kind, options)).filter(
    ([name, value]) =>
      names.includes(name) &&
      !["format", "codec", "mode", "bitrate"].includes(name) &&
      suits(kind, from, name) &&
      (value !== "auto" || name !== "quality" || MEASURABLE.has(kind)),
  );
  return {
    ...settings,
    kind,
    options: Object.fromEntries(entries),
    target_size: hasBitrate(kind, DEFAULT_FORMAT[kind]) ? settings.target_size : null,
    preset: null,
  };
}

// A waveform has no pixels by default, and those of a storyboard are a tile's.
const SIZED_APART: ReadonlySet<EncodeKind> = new Set(["waveform", "storyboard"]);

function suits(kind: EncodeKind, from: EncodeKind, name: string): boolean {
  return !(SIZED_APART.has(kind) || SIZED_APART.has(from)) || (name !== "width" && name !== "height");
}

/** Changes options; undefined restores a default. The result no longer counts as a preset. */
export function withOptions(settings: Settings, changes: AnyOptions): Settings {
  const all = Object.entries({ ...settings.options, ...changes }).filter(([, value]) => value !== undefined);
  return { ...settings, options: Object.fromEntries(all), preset: null };
}
