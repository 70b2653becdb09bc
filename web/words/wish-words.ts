import { DEFAULT_FORMAT, FORMATS, forecast, type Source } from "../../src/index.ts";
import { summarizeOptions } from "../../src/media/features.ts";
import type { Wishes } from "../queue/item.ts";
import { codecName, formatName } from "./names.ts";
import { bytes, clock } from "./quantities.ts";

const QUALITIES = {
  very_low: "lowest quality",
  low: "low quality",
  medium: "medium quality",
  high: "high quality",
  very_high: "highest quality",
} as const;

/** Describes the requested output of a file: `WebM, VP9, 640 wide, high quality`. */
export function describeWishes(wishes: Wishes, source: Source | null): string {
  const { kind, options, target_size } = wishes;
  const wish = options as Readonly<Record<string, unknown>>;
  const format = typeof wish.format === "string" ? wish.format : defaultFormat(kind, source);
  return [
    outputName(kind, format),
    kind === "video" ? codecName(String(wish.codec ?? defaultCodec(format))) : null,
    describePictures(kind, wish),
    describeSize(wish),
    Number.isFinite(wish.fps) ? `${wish.fps} fps` : null,
    describeSpan(kind, wish),
    ...summarizeOptions(kind, wish),
    wish.subtitles === undefined ? null : "with subtitles",
    Array.isArray(wish.concat) ? `${wish.concat.length} more after it` : null,
    isCopied(wishes, source) ? "copied" : describeRate(kind, format, wish, target_size),
  ]
    .filter(Boolean)
    .join(", ");
}

function outputName(kind: Wishes["kind"], format: string): string {
  if (kind === "adaptive_video") return `${formatName(format)} stream`;
  if (kind === "waveform" || kind === "storyboard") return `${formatName(format)} ${kind}`;
  return kind === "animation" ? `${formatName(format)} animation` : formatName(format);
}

function isCopied({ kind, options, target_size }: Wishes, source: Source | null): boolean {
  if (!source || target_size !== null) return false;
  try {
    return forecast(kind, options, source).copied;
  } catch {
    // Errors are shown where the options are chosen.
    return false;
  }
}

function defaultFormat(kind: Wishes["kind"], source: Source | null): string {
  const own = source?.format ?? "";
  return kind === "image" && own in FORMATS.image ? own : DEFAULT_FORMAT[kind];
}

function defaultCodec(format: string): string {
  return format in FORMATS.video ? FORMATS.video[format as keyof typeof FORMATS.video].codecs[0] : "";
}

function describePictures(
  kind: Wishes["kind"],
  { interval, count }: Readonly<Record<string, unknown>>,
): string | null {
  if (kind === "image" && Number.isFinite(count)) return count === 1 ? "1 picture" : `${count} pictures`;
  return Number.isFinite(interval) ? `one every ${interval === 1 ? "second" : `${interval} seconds`}` : null;
}

function describeSize({ width, height }: Readonly<Record<string, unknown>>): string | null {
  if (width === undefined && height === undefined) return null;
  // A size may be incomplete while it is being typed.
  if (![width, height].every((side) => side === undefined || /^\d+(\.\d+)?\s*%?$/.test(String(side))))
    return null;
  const [wide, high] = [sideWords(width), sideWords(height)];
  if (width === height && typeof width === "string") return `${wide} of the size`;
  if (width !== undefined && height !== undefined) return `${wide} × ${high}`;
  return width === undefined ? `${high} high` : `${wide} wide`;
}

function sideWords(side: unknown): string {
  return String(side).replace(/\s*%$/, " %");
}

function describeSpan(
  kind: Wishes["kind"],
  { start, end, interval, count }: Readonly<Record<string, unknown>>,
): string | null {
  const [from, to] = [typeof start === "number" ? start : 0, typeof end === "number" ? end : null];
  if (kind === "image" && interval === undefined && count === undefined)
    return from > 0 ? `frame at ${clock(from, true)}` : null;
  if (to !== null) return `${clock(from, true)} to ${clock(to, true)}`;
  return from > 0 ? `from ${clock(from, true)}` : null;
}

function describeRate(
  kind: Wishes["kind"],
  format: string,
  { quality, bitrate }: Readonly<Record<string, unknown>>,
  target_size: number | null,
): string | null {
  // A number may be incomplete while it is being typed.
  if (target_size !== null) return target_size > 0 ? `at most ${bytes(target_size)}` : null;
  if (kind === "waveform") return null;
  // Quality makes no visible or audible difference to these.
  if (["wav", "flac", "png", "gif"].includes(format) && kind !== "animation") return null;
  if (typeof bitrate === "number") {
    if (Number.isNaN(bitrate)) return null;
    return kind === "video" && bitrate >= 1e6
      ? `${Number((bitrate / 1e6).toPrecision(3))} Mbit/s`
      : `${Math.round(bitrate / 1000)} kbit/s`;
  }
  return QUALITIES[(quality ?? "medium") as keyof typeof QUALITIES] ?? null;
}
