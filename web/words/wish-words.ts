import { DEFAULT_FORMAT, FORMATS, forecast, type Quality, type Source } from "../../src/index.ts";
import { concat } from "../../src/media/features/concat.ts";
import { fps } from "../../src/media/features/fps.ts";
import { geometry } from "../../src/media/features/geometry.ts";
import { quality as qualityGroup } from "../../src/media/features/rate.ts";
import { stills } from "../../src/media/features/stills.ts";
import { storyboard } from "../../src/media/features/storyboard.ts";
import { summarizeOptions } from "../../src/media/option-groups.ts";
import type { Wishes } from "../queue/item.ts";
import { codecName, formatName } from "./names.ts";
import { bytes, clock } from "./quantities.ts";

// What is said before the span of time.
const SERIES: ReadonlySet<object> = new Set([stills, storyboard]);
const FRAME: ReadonlySet<object> = new Set([geometry, fps]);
const EARLY: ReadonlySet<object> = new Set([...SERIES, ...FRAME]);

/** Describes the requested output of a file: `WebM, VP9, 640 wide, high quality`. */
export function describeWishes(wishes: Wishes, source: Source | null): string {
  const { kind, options, target_size } = wishes;
  const wish = options as Readonly<Record<string, unknown>>;
  const format = typeof wish.format === "string" ? wish.format : defaultFormat(kind, source);
  return [
    outputName(kind, format),
    kind === "video" ? codecName(String(wish.codec ?? defaultCodec(format))) : null,
    ...summarizeOptions(kind, wish, (group) => SERIES.has(group)),
    ...summarizeOptions(kind, wish, (group) => FRAME.has(group)),
    describeSpan(kind, wish),
    ...summarizeOptions(kind, wish, (group) => !EARLY.has(group) && group !== concat),
    ...summarizeOptions(kind, wish, (group) => group === concat),
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
  const { choice } = qualityGroup.options.quality.words;
  return `${choice?.(quality as Quality | undefined).toLowerCase()} quality`;
}
