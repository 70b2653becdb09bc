import { ENCODE_KINDS, type EncodeKind, parseTaskRequest, type Source } from "../../src/index.ts";
import { type AudioFormat, FORMATS } from "../../src/media/formats.ts";
import { AUDIO_BITRATE, streamBits } from "../../src/media/rates.ts";
import type { Settings } from "../queue/item.ts";
import { withoutMissing, withVerdict } from "./check-settings.ts";
import type { AnyOptions } from "./choices.ts";
import * as strings from "./strings.ts";

/** Named options, usable for any file that allows such an output. */
export interface Preset {
  readonly id: string;
  readonly name: string;
  /** The purpose in a few words; empty for a preset of the visitor's own. */
  readonly purpose: string;
  readonly kind: EncodeKind;
  readonly options: AnyOptions;
  /** Maximum pixels of the short or the long side; smaller files keep their size. */
  readonly max?: { readonly short: number } | { readonly long: number };
  readonly target_size: number | null;
}

export const PRESETS = [
  {
    id: "web-video",
    name: strings.webVideo,
    purpose: strings.webVideoPurpose,
    kind: "video",
    options: { format: "mp4", quality: "medium", enlarge: false },
    max: { short: 1080 },
    target_size: null,
  },
  {
    id: "mail",
    name: strings.smallForMail,
    purpose: strings.mailPurpose,
    kind: "video",
    options: { format: "mp4", enlarge: false },
    max: { short: 720 },
    target_size: 20_000_000,
  },
  {
    id: "hls",
    name: strings.hlsForMySite,
    purpose: strings.hlsPurpose,
    kind: "adaptive_video",
    options: { quality: "medium", enlarge: false },
    target_size: null,
  },
  {
    id: "podcast",
    name: strings.podcastAudio,
    purpose: strings.podcastPurpose,
    kind: "audio",
    options: { format: "mp3", quality: "medium" },
    target_size: null,
  },
  {
    id: "archive-audio",
    name: strings.losslessAudio,
    purpose: strings.losslessAudioPurpose,
    kind: "audio",
    options: { format: "flac" },
    target_size: null,
  },
  {
    id: "web-picture",
    name: strings.webPicture,
    purpose: strings.webPicturePurpose,
    kind: "image",
    options: { format: "webp", quality: "medium", enlarge: false },
    max: { long: 1920 },
    target_size: null,
  },
  {
    id: "thumbnail",
    name: strings.thumbnail,
    purpose: strings.thumbnailPurpose,
    kind: "image",
    options: { format: "jpeg", quality: "medium", enlarge: false },
    max: { long: 320 },
    target_size: null,
  },
] as const satisfies readonly Preset[];

export type PresetId = (typeof PRESETS)[number]["id"];

/** Applies a preset to a source, except options that the source cannot have; keeps the trim and the place. */
export function fromPreset(preset: Preset, current: Settings, source: Source): Settings {
  const { start, end, partial } = current.options as AnyOptions;
  const span = {
    ...(start !== undefined && { start }),
    ...(end !== undefined && preset.kind !== "image" && { end }),
    ...(partial !== undefined && { partial }),
  };
  const settings: Settings = {
    ...current,
    kind: preset.kind,
    options: { ...withinSource(preset, source), ...sizeOf(preset, source), ...span } as Settings["options"],
    target_size: preset.target_size,
    preset: preset.id,
  };
  return withoutMissing(settings, source);
}

/** Drops a preset's quality for sound that already has its codec at no higher a bitrate, so that it is copied. */
function withinSource({ kind, options }: Preset, source: Source): AnyOptions {
  const { quality, format, ...rest } = options;
  if (kind !== "audio" || !quality || quality === "auto" || format === undefined) return options;
  const { codec } = FORMATS.audio[format as AudioFormat];
  const bitrate = codec in AUDIO_BITRATE ? AUDIO_BITRATE[codec as keyof typeof AUDIO_BITRATE][quality] : 0;
  const own = streamBits(source, "audio") ?? Number.POSITIVE_INFINITY;
  return source.codecs?.audio === codec && own <= bitrate * ROUNDING ? { format, ...rest } : options;
}

// Some containers' bitrates include their overhead.
const ROUNDING = 1.02;

function sizeOf({ max }: Preset, { width, height }: Source): AnyOptions {
  if (!max || !width || !height) return {};
  const wide = width >= height;
  const [pixels, side] =
    "short" in max ? [max.short, wide ? "height" : "width"] : [max.long, wide ? "width" : "height"];
  return (side === "width" ? width : height) > pixels ? { [side]: pixels } : {};
}

/** Maximum number of presets, and the maximum length of a name. */
export const PRESET_BOUNDS = { count: 50, name: 60 } as const;

/** Parses stored presets; drops malformed ones and those whose options this version does not have. */
export function parsePresets(text: string | null): Preset[] {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? "[]");
  } catch {
    return [];
  }
  if (!Array.isArray(stored)) return [];
  return stored.slice(-PRESET_BOUNDS.count).flatMap((value) => parsePreset(value) ?? []);
}

function parsePreset(value: unknown): Preset | null {
  const { id, name, kind, options, target_size = null } = Object(value);
  if (typeof id !== "string" || typeof name !== "string" || !isName(name) || id.length > 100) return null;
  if (!ENCODE_KINDS.includes(kind as EncodeKind)) return null;
  if (target_size !== null && !(typeof target_size === "number" && target_size > 0)) return null;
  try {
    const parsed = parseTaskRequest({ input: "https://example.com/", kind, options });
    return { id, name, purpose: "", kind: parsed.kind, options: parsed.options, target_size };
  } catch {
    return null;
  }
}

export function isName(name: string): boolean {
  return name.trim() !== "" && name.length <= PRESET_BOUNDS.name;
}

/**
 * Returns the options for another file that match these: a preset in the size that suits that file, anything else unchanged.
 * The other file keeps its trim.
 */
export function sameFor(
  settings: Settings,
  presets: readonly Preset[],
  other: { readonly settings: Settings; readonly source: Source },
): Settings {
  const preset = presets.find(({ id }) => id === settings.preset);
  const same = preset
    ? { ...fromPreset(preset, other.settings, other.source), place: settings.place }
    : { ...settings, options: withTimesOf(other.settings.options, settings.options) };
  return withVerdict(same, other.source);
}

function withTimesOf(
  { start, end }: AnyOptions,
  { start: _start, end: _end, ...options }: AnyOptions,
): Settings["options"] {
  const all: AnyOptions = { ...options, start, end };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
