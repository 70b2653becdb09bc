import {
  DEFAULT_FORMAT,
  type Dropped,
  dropped,
  FORMATS,
  forecast,
  optionsForSize,
  type Quality,
  type Source,
} from "../../src/index.ts";
import { hasQuality } from "../../src/media/containers.ts";
import { concat } from "../../src/media/features/concat.ts";
import { fps } from "../../src/media/features/fps.ts";
import { geometry } from "../../src/media/features/geometry.ts";
import { quality as qualityGroup } from "../../src/media/features/rate.ts";
import { stills } from "../../src/media/features/stills.ts";
import { storyboard } from "../../src/media/features/storyboard.ts";
import { expectsLarger } from "../../src/media/forecast.ts";
import { isLosslessFormat } from "../../src/media/formats.ts";
import { summarizeOptions } from "../../src/media/option-groups.ts";
import { isPageChoice } from "../options/default-settings.ts";
import { maskAttached } from "../queue/attached-files.ts";
import type { Item, Settings } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { codecName, formatName, languageName } from "./names.ts";
import { bytes, clock } from "./quantities.ts";
import * as strings from "./strings.ts";

const SERIES: ReadonlySet<object> = new Set([stills, storyboard]);
const FRAME: ReadonlySet<object> = new Set([geometry, fps]);
const EARLY: ReadonlySet<object> = new Set([...SERIES, ...FRAME]);

/** Describes the requested output of a file: `WebM, VP9, 640 wide, high quality`. */
export function describeSettings(settings: Settings, source: Source | null): string {
  const { kind, options, target_size } = settings;
  const values = maskAttached(options) as Readonly<Record<string, unknown>>;
  const format = typeof values.format === "string" ? values.format : defaultFormat(kind, source);
  return [
    strings.output({ format: formatName(format), kind }),
    kind === "video" ? codecName(String(values.codec ?? defaultCodec(format))) : null,
    ...summarizeOptions(kind, values, (group) => SERIES.has(group)),
    ...summarizeOptions(kind, values, (group) => FRAME.has(group)),
    describeSpan(kind, values),
    ...summarizeOptions(kind, values, (group) => !EARLY.has(group) && group !== concat),
    ...summarizeOptions(kind, values, (group) => group === concat),
    isCopied(settings, source) ? strings.copied : describeRate(kind, format, values, target_size),
  ]
    .filter(Boolean)
    .join(", ");
}

/** Describes what the settings change besides the format: `cut to 0:40, 640 wide`; empty for nothing. */
export function describeEdits({ kind, options }: Settings): string {
  const values = maskAttached(options) as Readonly<Record<string, unknown>>;
  return [
    ...summarizeOptions(kind, values, (group) => SERIES.has(group)),
    ...summarizeOptions(kind, values, (group) => FRAME.has(group)),
    describeSpan(kind, values),
    ...summarizeOptions(kind, values, (group) => !EARLY.has(group)),
  ]
    .filter(Boolean)
    .join(", ");
}

function isCopied({ kind, options, target_size }: Settings, source: Source | null): boolean {
  if (!source || target_size !== null) return false;
  try {
    return forecast(kind, options, source).copied;
  } catch {
    return false;
  }
}

function defaultFormat(kind: Settings["kind"], source: Source | null): string {
  const own = source?.format ?? "";
  return kind === "image" && own in FORMATS.image ? own : DEFAULT_FORMAT[kind];
}

function defaultCodec(format: string): string {
  return format in FORMATS.video ? FORMATS.video[format as keyof typeof FORMATS.video].codecs[0] : "";
}

function describeSpan(
  kind: Settings["kind"],
  { start, end, interval, count }: Readonly<Record<string, unknown>>,
): string | null {
  const [from, to] = [typeof start === "number" ? start : 0, typeof end === "number" ? end : null];
  if (kind === "image" && interval === undefined && count === undefined)
    return from > 0 ? strings.frameAt({ time: clock(from, true) }) : null;
  if (to !== null) return strings.fromTo({ from: clock(from, true), to: clock(to, true) });
  return from > 0 ? strings.from({ time: clock(from, true) }) : null;
}

function describeRate(
  kind: Settings["kind"],
  format: string,
  { quality, bitrate }: Readonly<Record<string, unknown>>,
  target_size: number | null,
): string | null {
  if (target_size !== null) return target_size > 0 ? strings.atMost({ size: bytes(target_size) }) : null;
  if (kind === "waveform") return null;
  if (isLosslessFormat(kind, format) || (kind === "image" && !hasQuality(format))) return null;
  if (typeof bitrate === "number") {
    if (Number.isNaN(bitrate)) return null;
    return kind === "video" && bitrate >= 1e6
      ? strings.megabits({ rate: Number((bitrate / 1e6).toPrecision(3)) })
      : strings.kilobits({ rate: Math.round(bitrate / 1000) });
  }
  const { choice } = qualityGroup.options.quality.words;
  return strings.quality({ quality: (choice?.(quality as Quality | undefined) ?? "").toLowerCase() });
}

/** Describes a file: `MP4 video, H.264 and AAC, 1920 × 1080, 30 fps, 0:32, 45.2 MB`. Omits what is unknown. */
export function describeSource(source: Source): string {
  const { kind, format, width, height, fps, duration, filesize, codecs } = source;
  const moves = kind === "video" || kind === "adaptive_video";
  const pictures = moves && codecs?.video === null ? strings.unknownCodec : codecs?.video;
  const names = [pictures, codecs?.audio].filter((name) => name !== null && name !== undefined);
  return [
    strings.source({ format: formatName(format), kind: source.animated ? "animation" : kind }),
    kind === "image" || (kind === "audio" && codecName(names[0] ?? "") === formatName(format))
      ? null
      : strings.codecs({ names: names.map(codecLabel) }),
    width && height ? `${width} × ${height}` : null,
    moves && fps ? strings.framesPerSecond({ fps: Number(fps.toFixed(2)) }) : null,
    kind === "audio" ? describeSound(source) : null,
    duration && kind !== "image" ? clock(duration) : null,
    filesize === undefined ? null : bytes(filesize),
  ]
    .filter(Boolean)
    .join(", ");
}

const LINES: ReadonlyMap<number, string> = new Map([
  [4320, "8K"],
  [2160, "4K"],
  [1440, "1440p"],
  [1080, "1080p"],
  [720, "720p"],
  [480, "480p"],
]);

/** Describes a file in a few words: `MP4 · 1080p · 0:32`. */
export function briefSource(source: Source): string {
  const { kind, format, width, height, duration, audio } = source;
  const isVideo = kind === "video" && width && height;
  const lines = isVideo ? LINES.get(Math.min(width, height)) : undefined;
  return [
    formatName(format),
    lines ?? (width && height ? `${width} × ${height}` : null),
    kind === "audio" && audio ? strings.channels({ channels: audio.channels }) : null,
    duration && (kind !== "image" || source.animated) ? clock(duration) : null,
  ]
    .filter(Boolean)
    .join(" · ");
}

function codecLabel(codec: string): string {
  return codec === strings.unknownCodec ? codec : codecName(codec);
}

function describeSound({ audio }: Source): string | null {
  if (!audio) return null;
  return strings.audio({ channels: audio.channels, rate: audio.sample_rate / 1000 });
}

/**
 * Returns the note that the original is kept, if a preset or the default options would make a file larger and no better; otherwise
 * null.
 */
export function describeSmallest(settings: Settings, source: Source | null): string | null {
  if (!source || !isPageChoice(settings, source)) return null;
  const { kind, options, target_size } = settings;
  try {
    const settled = target_size === null ? options : optionsForSize(kind, options, source, target_size);
    return expectsLarger(kind, settled, source) ? strings.smallest : null;
  } catch {
    return null;
  }
}

/**
 * Describes what the output will lack of a file: `Leaves out: subtitles (German), chapters.`; null when that is nothing, or
 * exactly what was asked for.
 */
export function describeDropped({ kind, options }: Settings, source: Source | null): string | null {
  const omissions = source
    ? omissionsOf(kind, options, source).filter(({ reason }) => reason !== "asked")
    : [];
  if (omissions.length === 0) return null;
  const parts = PARTS.flatMap((part) => {
    const some = omissions.filter((each) => PARTS.find(({ fits }) => fits(each)) === part);
    return some.length > 0 ? [part.name(some)] : [];
  });
  return strings.leavesOut({ parts });
}

function omissionsOf(kind: Settings["kind"], options: Settings["options"], source: Source): Dropped[] {
  try {
    return dropped(kind, options, source);
  } catch {
    return [];
  }
}

interface Part {
  /** Whether the part names an omission, unless an earlier one does. */
  fits(one: Dropped): boolean;
  name(some: readonly Dropped[]): string;
}

const PARTS: readonly Part[] = [
  { fits: ({ reason }) => reason === "cut_off", name: () => strings.cutOff },
  { fits: ({ kind }) => kind === "video", name: (some) => strings.furtherVideo(lostOf(some)) },
  { fits: ({ kind }) => kind === "audio", name: (some) => strings.furtherAudio(lostOf(some)) },
  { fits: ({ kind }) => kind === "channels", name: () => strings.surround },
  { fits: ({ kind }) => kind === "alpha", name: () => strings.alpha },
  { fits: ({ kind }) => kind === "bit_depth", name: () => strings.bitDepth },
  { fits: ({ kind }) => kind === "hdr", name: () => strings.hdr },
  { fits: ({ kind }) => kind === "color_profile", name: () => strings.colorProfile },
  { fits: ({ kind }) => kind === "gain_map", name: () => strings.gainMap },
  { fits: ({ kind }) => kind === "pictures", name: () => strings.pictures },
  { fits: ({ kind }) => kind === "subtitle", name: (some) => strings.subtitles(lostOf(some)) },
  { fits: ({ kind }) => kind === "chapters", name: () => strings.chapters },
  { fits: ({ kind }) => kind === "data", name: () => strings.data },
  { fits: ({ kind }) => kind === "cover", name: coverWords },
  {
    fits: ({ kind, reason }) => kind === "tags" && reason === "private",
    name: () => strings.privateTags,
  },
  { fits: ({ kind }) => kind === "tags", name: () => strings.tags },
];

function lostOf(some: readonly Dropped[]): { count: number; languages: string[] } {
  const languages = some.flatMap(({ language }) => (language ? [languageName(language)] : []));
  return { count: some.length, languages };
}

function coverWords(some: readonly Dropped[]): string {
  return some.every(({ reason }) => reason === "one_track") ? strings.furtherCovers : strings.cover;
}

/**
 * Describes where an item is processed: in the future tense before it starts, then with the encoder and the main reason for
 * it, once known.
 */
export function describePlace({ settings, task, service, input, pace }: Item): string {
  const place =
    settings.place === "device"
      ? strings.onDevice
      : strings.onEdge({ host: service ? hostOf(service) : null });
  if (!task) {
    if (settings.place === "device") return strings.willRunHere({ place });
    return typeof input === "string" ? strings.addressIsSent({ place }) : strings.fileIsSent({ place });
  }
  const output = task.steps.find(({ output }) => output?.encoder)?.output;
  const runs = task.status === "queued" || task.status === "processing";
  const sentenceOf = output ? strings.made : runs ? strings.runs : strings.ran;
  const choice = output ?? pace?.choice;
  if (!choice) return sentenceOf({ place, encoder: "" });
  const sentence = sentenceOf({ place, encoder: encoderWords(choice) });
  return choice.reason ? `${sentence} ${choice.reason}` : sentence;
}

/** Describes which encoder made an output and why; null when unknown. */
export function describeEncoder(output: Pick<Source, "encoder" | "reason">): string | null {
  const { encoder, reason = "" } = output;
  if (!encoder) return null;
  const words = encoderWords(output);
  return [words && `${words}.`, reason].filter(Boolean).join(" ");
}

function encoderWords({ encoder = "" }: Pick<Source, "encoder">): string {
  return strings.encoders[encoder] ?? strings.otherEncoder({ encoder });
}

function hostOf(service: string): string {
  return URL.parse(service)?.host ?? service;
}

export function stateWords(item: Item): string {
  const state = stateOf(item);
  if (state === "sending" && item.starting?.waits) return strings.states.queued;
  if (state === "sending" && item.starting?.percent !== null) return strings.sending;
  return isIdle(item) ? strings.waitingForEncoder : strings.states[state];
}

/** Returns whether an item's task is running, but its encode is waiting for others. */
export function isIdle(item: Item): boolean {
  const { pace, task } = item;
  const encode = task?.steps.find(({ kind }) => kind === task.kind);
  return stateOf(item) === "processing" && pace?.waits === true && !encode?.progress;
}
