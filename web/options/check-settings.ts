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
import { strings } from "./strings.ts";

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
    const message = field === "bitrate" ? strings.bitrateOutOfRange : strings.audioBitrateOutOfRange;
    return message({ min: min / 1000, max: max / 1000 });
  }
  return (reason && reasonWords(reason)) || message;
}

interface Lowered {
  width?: number | string | undefined;
  height?: number | string | undefined;
  fps?: number | undefined;
  quality?: string | undefined;
}

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
    isSmaller && width && height && strings.pictureShrinks({ width, height }),
    asked.fps !== settled.fps && strings.motionDrops({ fps: Number(settled.fps?.toPrecision(3)) }),
    isQuieter && strings.soundGets({ quality: settled.quality ?? "" }),
  ].filter((change) => typeof change === "string");
  if (changes.length === 0) return null;
  return strings.toStayBelow({ size: bytes(target_size), changes });
}
