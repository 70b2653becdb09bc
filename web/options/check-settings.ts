import {
  type Forecast,
  forecast,
  MediaError,
  optionsForSize,
  parseTaskRequest,
  type Source,
} from "../../src/index.ts";
import type { Fault, Wishes } from "../queue/item.ts";
import { reasonWords } from "../words/fault-words.ts";
import { bytes } from "../words/quantities.ts";
import { type AnyOptions, bitrateBounds, withOptions } from "./choices.ts";

/** An error in the options, and its field. */
export interface WishFault extends Fault {
  /** Name of the option, `target_size`, or null when it belongs to no single field. */
  readonly field: string | null;
}

/** What is known about options before the start: a forecast, or an error. */
export type Verdict =
  | { readonly fault: null; readonly forecast: Forecast; readonly lowered: string | null }
  | { readonly fault: WishFault; readonly forecast: null; readonly lowered: null };

/** Validates options for a source as a task's request and its plan would. */
export function checkWishes({ kind, options, target_size }: Wishes, source: Source): Verdict {
  try {
    // Any URL will do, because the options do not depend on it.
    parseTaskRequest({ input: "https://example.com/", kind, options });
    const settled = target_size === null ? options : optionsForSize(kind, options, source, target_size);
    const made = forecast(kind, settled, source);
    const lowered = target_size === null ? null : loweredWords(options, settled, made, source, target_size);
    return { fault: null, forecast: made, lowered };
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    const field = thrown.param?.replace(/^options\./, "") ?? null;
    const fault = { kind: thrown.kind, field, message: sayFault(thrown, field, kind) };
    return { fault, forecast: null, lowered: null };
  }
}

/** Changes the format, and takes back every option that it rules out, but none that was at fault before. */
export function withFormat(wishes: Wishes, format: string, source: Source): Wishes {
  const before = optionAtFault(wishes, source);
  let now = withOptions(wishes, { format });
  for (;;) {
    const fault = optionAtFault(now, source);
    if (fault === null || fault === before) return now;
    // A copy rules out what the new format needs, such as another codec.
    const { mode }: AnyOptions = now.options;
    const name = mode === "copy" ? "mode" : fault;
    if (name === "format" || !(name in now.options)) return now;
    now = withOptions(now, { [name]: undefined });
  }
}

// Those that need a sound track or a timeline, which not every file has.
const OF_FILES: readonly string[] = ["track", "interval", "count"];

/** Leaves out what a source has nothing for, because the options were chosen for another file. */
export function withoutMissing(wishes: Wishes, source: Source): Wishes {
  const without = (now: Wishes, name: string): Wishes => ({
    ...withOptions(now, { [name]: undefined }),
    preset: wishes.preset,
  });
  // There are no pictures to read them with.
  let now = source.kind === "audio" ? without(wishes, "subtitles") : wishes;
  for (;;) {
    const name = optionAtFault(now, source);
    if (name === null || !OF_FILES.includes(name) || !(name in now.options)) return now;
    now = without(now, name);
  }
}

/** Returns the name of the first option at fault, such as `overlay` for `overlay.width`; null when there is none. */
function optionAtFault(wishes: Wishes, source: Source): string | null {
  const { fault } = checkWishes(wishes, source);
  return fault && (fault.field ?? "").replace(/[.[].*$/, "");
}

/** Returns options with their error, so that nothing invalid is started, and with what is lowered for their size. */
export function judged(wishes: Wishes, source: Source): Wishes {
  const { fault, lowered } = checkWishes(wishes, source);
  return { ...wishes, lowered, fault: fault && { kind: fault.kind, message: fault.message } };
}

// In the page's own words where it has them.
function sayFault({ message, reason }: MediaError, field: string | null, kind: Wishes["kind"]): string {
  if (field === "bitrate" || field === "audio_bitrate") {
    const { min, max } = bitrateBounds(field === "bitrate" ? kind : "audio");
    return `${field === "bitrate" ? "Bitrate" : "Bitrate of the sound"} must be a number from ${min / 1000} to ${max / 1000} kbit/s.`;
  }
  return (reason && reasonWords(reason)) || message;
}

interface Lowered {
  width?: number | string | undefined;
  height?: number | string | undefined;
  fps?: number | undefined;
  quality?: string | undefined;
}

const SOUND: Readonly<Record<string, string>> = {
  very_low: "the lowest quality",
  low: "low quality",
  medium: "medium quality",
  high: "high quality",
};

/** Describes what is lowered to keep a file below a size; null when nothing is. */
export function loweredWords(
  asked: Lowered,
  settled: Lowered,
  { width, height }: Pick<Forecast, "width" | "height">,
  { codecs }: Pick<Source, "codecs">,
  target_size: number,
): string | null {
  const isSmaller = asked.width !== settled.width || asked.height !== settled.height;
  const isQuieter =
    codecs?.audio !== null &&
    settled.quality !== undefined &&
    settled.quality !== (asked.quality ?? "medium");
  const changes = [
    isSmaller && width && height && `the picture shrinks to ${width} × ${height}`,
    asked.fps !== settled.fps && `motion drops to ${Number(settled.fps?.toPrecision(3))} frames per second`,
    isQuieter && `the sound gets ${SOUND[settled.quality ?? ""] ?? settled.quality}`,
  ].filter((change) => typeof change === "string");
  if (changes.length === 0) return null;
  const list = changes.length > 1 ? `${changes.slice(0, -1).join(", ")} and ${changes.at(-1)}` : changes[0];
  return `To stay below ${bytes(target_size)}, ${list}.`;
}
