import {
  type Forecast,
  forecast,
  MediaError,
  optionsForSize,
  parseTaskRequest,
  type Source,
} from "../../src/index.ts";
import { maskAttached } from "../queue/attached-files.ts";
import type { Fault, Settings } from "../queue/item.ts";
import { reasonWords } from "../words/fault-words.ts";
import { bytes } from "../words/quantities.ts";
import { type AnyOptions, bitrateBounds, withOptions } from "./choices.ts";
import * as strings from "./strings.ts";

/** An error in the options, and its field. */
export interface SettingsFault extends Fault {
  /** Name of the option, `target_size`, or null when it belongs to no single field. */
  readonly field: string | null;
}

/** The result of checking options before the start: a forecast, or an error. */
export type Verdict =
  | { readonly fault: null; readonly forecast: Forecast; readonly lowered: string | null }
  | { readonly fault: SettingsFault; readonly forecast: null; readonly lowered: null };

/** Validates options for a source as a task's request and its plan would. */
export function checkSettings({ kind, options, target_size }: Settings, source: Source): Verdict {
  try {
    parseTaskRequest({ input: "https://example.com/", kind, options: maskAttached(options) });
    const settled = target_size === null ? options : optionsForSize(kind, options, source, target_size);
    const outcome = forecast(kind, settled, source);
    const lowered =
      target_size === null ? null : loweredWords(options, settled, outcome, source, target_size);
    return { fault: null, forecast: outcome, lowered };
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    const field = thrown.param?.replace(/^options\./, "") ?? null;
    const fault = { kind: thrown.kind, field, message: faultMessage(thrown, field, kind) };
    return { fault, forecast: null, lowered: null };
  }
}

/** Changes the format, and takes back every option that it rules out, but none that was at fault before. */
export function withFormat(settings: Settings, format: string, source: Source): Settings {
  const before = optionAtFault(settings, source);
  let now = withOptions(settings, { format });
  for (;;) {
    const fault = optionAtFault(now, source);
    if (fault === null || fault === before) return now;
    const { mode }: AnyOptions = now.options;
    const name = mode === "copy" ? "mode" : fault;
    if (name === "format" || !(name in now.options)) return now;
    now = withOptions(now, { [name]: undefined });
  }
}

const OF_FILES: readonly string[] = ["track", "interval", "count"];

/** Removes options that were chosen for another file and need subtitles, a track or a timeline that this source lacks. */
export function withoutMissing(settings: Settings, source: Source): Settings {
  const without = (now: Settings, name: string): Settings => ({
    ...withOptions(now, { [name]: undefined }),
    preset: settings.preset,
  });
  let now = source.kind === "audio" ? without(settings, "subtitles") : settings;
  for (;;) {
    const name = optionAtFault(now, source);
    if (name === null || !OF_FILES.includes(name) || !(name in now.options)) return now;
    now = without(now, name);
  }
}

/** Returns the name of the first option at fault, such as `overlay` for `overlay.width`; null when there is none. */
function optionAtFault(settings: Settings, source: Source): string | null {
  const { fault } = checkSettings(settings, source);
  return fault && (fault.field ?? "").replace(/[.[].*$/, "");
}

/** Returns options with their error, and with a description of what is lowered to reach their target size. */
export function withVerdict(settings: Settings, source: Source): Settings {
  const { fault, lowered } = checkSettings(settings, source);
  return { ...settings, lowered, fault: fault && { kind: fault.kind, message: fault.message } };
}

function faultMessage({ message, reason }: MediaError, field: string | null, kind: Settings["kind"]): string {
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
  request: Lowered,
  settled: Lowered,
  { width, height }: Pick<Forecast, "width" | "height">,
  { codecs }: Pick<Source, "codecs">,
  target_size: number,
): string | null {
  const isSmaller = request.width !== settled.width || request.height !== settled.height;
  const isQuieter =
    codecs?.audio !== null &&
    settled.quality !== undefined &&
    settled.quality !== (request.quality ?? "medium");
  const changes = [
    isSmaller && width && height && strings.pictureShrinks({ width, height }),
    request.fps !== settled.fps && strings.motionDrops({ fps: Number(settled.fps?.toPrecision(3)) }),
    isQuieter && strings.soundGets({ quality: settled.quality ?? "" }),
  ].filter((change) => typeof change === "string");
  if (changes.length === 0) return null;
  return strings.toStayBelow({ size: bytes(target_size), changes });
}

/** Returns the options of the task that keeps an output within the requested size; throws `invalid_options` when none can. */
export function sizedOptions(
  { kind, options }: Settings,
  source: Source,
  bytes: number,
): Settings["options"] {
  return optionsForSize(kind, options, source, bytes);
}

/** Throws `input_unsupported` for a source whose facts can be read, but not its pictures: no option helps. */
export function refuseUnreadable(source: Source, { kind, options }: Settings): void {
  try {
    forecast(kind, options, source);
  } catch (thrown) {
    if (thrown instanceof MediaError && thrown.kind === "input_unsupported") throw thrown;
  }
}
