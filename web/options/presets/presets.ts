import type { EncodeKind, Source } from "../../../src/index.ts";
import type { Wishes } from "../../queue/item.ts";
import { withoutMissing } from "../check-wishes.ts";
import type { AnyOptions } from "../choices.ts";

/** Named options, usable for any file that allows such an output. */
export interface Preset {
  readonly id: string;
  readonly name: string;
  /** What it is for, in a few words; empty for the visitor's own. */
  readonly purpose: string;
  readonly kind: EncodeKind;
  readonly options: AnyOptions;
  /** Maximum pixels of the short or the long side; smaller files keep their size. */
  readonly most?: { readonly short: number } | { readonly long: number };
  readonly target_size: number | null;
}

export const PRESETS = [
  {
    id: "web-video",
    name: "Web video",
    purpose: "Plays everywhere, up to 1080p",
    kind: "video",
    options: { format: "mp4", quality: "medium" },
    most: { short: 1080 },
    target_size: null,
  },
  {
    id: "mail",
    name: "Small for mail",
    purpose: "Stays below 20 MB, up to 720p",
    kind: "video",
    options: { format: "mp4" },
    most: { short: 720 },
    target_size: 20_000_000,
  },
  {
    id: "hls",
    name: "HLS for my site",
    purpose: "Starts at once; videos in several sizes",
    kind: "adaptive_video",
    options: { quality: "medium" },
    target_size: null,
  },
  {
    id: "podcast",
    name: "Podcast audio",
    purpose: "MP3 for every player",
    kind: "audio",
    options: { format: "mp3", quality: "medium" },
    target_size: null,
  },
  {
    id: "archive-audio",
    name: "Lossless audio",
    purpose: "FLAC, lossless",
    kind: "audio",
    options: { format: "flac" },
    target_size: null,
  },
  {
    id: "web-picture",
    name: "Web picture",
    purpose: "WebP, up to 1920 pixels",
    kind: "image",
    options: { format: "webp", quality: "medium" },
    most: { long: 1920 },
    target_size: null,
  },
  {
    id: "thumbnail",
    name: "Thumbnail",
    purpose: "Small JPEG of 320 pixels",
    kind: "image",
    options: { format: "jpeg", quality: "medium" },
    most: { long: 320 },
    target_size: null,
  },
] as const satisfies readonly Preset[];

/** Applies a preset to a source, without what it has nothing for; keeps the trim and the place. */
export function fromPreset(preset: Preset, wishes: Wishes, source: Source): Wishes {
  const { start, end } = wishes.options as AnyOptions;
  const times = {
    ...(start !== undefined && { start }),
    ...(end !== undefined && preset.kind !== "image" && { end }),
  };
  const made: Wishes = {
    ...wishes,
    kind: preset.kind,
    options: { ...preset.options, ...sizeOf(preset, source), ...times } as Wishes["options"],
    target_size: preset.target_size,
    preset: preset.id,
  };
  return withoutMissing(made, source);
}

function sizeOf({ most }: Preset, { width, height }: Source): AnyOptions {
  if (!most || !width || !height) return {};
  const wide = width >= height;
  const [pixels, side] =
    "short" in most ? [most.short, wide ? "height" : "width"] : [most.long, wide ? "width" : "height"];
  return (side === "width" ? width : height) > pixels ? { [side]: pixels } : {};
}
