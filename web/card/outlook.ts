import { forecast, type Source } from "../../src/index.ts";
import { isLosslessFormat } from "../../src/media/formats.ts";
import { formatOf } from "../options/choices.ts";
import { isPageChoice, keepsOriginal } from "../options/default-settings.ts";
import type { SizeEstimate } from "../queue/estimates.ts";
import type { Item, Settings } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { isFolder } from "../result/file-names.ts";
import { describeSmallest } from "../words/item-words.ts";
import { bytes } from "../words/quantities.ts";
import * as strings from "./strings.ts";

/** The size of a file before and after its conversion, and the time that this takes. */
export interface Outlook {
  /** Bytes of the original; null when unknown. */
  readonly before: number | null;
  /** Bounds of the bytes of the output; null when unknown. */
  readonly after: { readonly low: number; readonly high: number } | null;
  /** Whether the output exists, so that `after` is its size. */
  readonly isExact: boolean;
  /** Seconds that the conversion takes; null when unknown. */
  readonly seconds: number | null;
  /** `over` when the file gets larger, `kept` when the page then keeps the original, otherwise empty. */
  readonly tone: "" | "over" | "kept";
  /** Why the file would get larger. */
  readonly why: "lossless" | "settings";
}

// A smaller difference may come from the headers alone.
const TOLERANCE = 0.01;

const outlooks = new WeakMap<Item, { estimate: SizeEstimate | null; outlook: Outlook | null }>();

/** Returns what is known of an item's size, from its output, an estimate, or its settings alone. */
export function outlookOf(item: Item, estimate: SizeEstimate | null): Outlook | null {
  // Whenever one item changes, the sums of a list need the outlooks of all.
  const before = outlooks.get(item);
  if (before && before.estimate === estimate) return before.outlook;
  const outlook = createOutlook(item, estimate);
  outlooks.set(item, { estimate, outlook });
  return outlook;
}

function createOutlook(item: Item, estimate: SizeEstimate | null): Outlook | null {
  const { source, settings, size } = item;
  if (!source) return null;
  const before = size ?? source.filesize ?? null;
  const why = isLosslessFormat(settings.kind, formatOf(settings.kind, settings.options, source))
    ? "lossless"
    : "settings";
  const common = { before, isExact: false, seconds: estimate?.seconds ?? null, why } as const;
  if (stateOf(item) === "succeeded") {
    const output = item.task?.steps.findLast(({ output }) => output?.encoder)?.output;
    const filesize = output && !isFolder(output) ? output.filesize : undefined;
    const after = filesize === undefined ? null : { low: filesize, high: filesize };
    const tone = keepsOriginal(item) ? "kept" : toneOf(before, after);
    return { ...common, after, isExact: true, tone };
  }
  const after = estimate ?? forecastSize(settings, source);
  const tone = toneOf(before, after);
  const isKept = mayKeepOriginal(item) && (tone === "over" || describeSmallest(settings, source) !== null);
  return { ...common, after, tone: isKept ? "kept" : tone };
}

/** Returns whether the page keeps the original if the output is not smaller: never for the visitor's own options, or for a URL. */
export function mayKeepOriginal({ settings, source, input }: Item): boolean {
  return source !== null && input !== null && typeof input !== "string" && isPageChoice(settings, source);
}

/** A range this narrow counts as one size. */
const NARROW = 1.25;

/** Returns whether a range of sizes is too wide to be shown as one size. */
export function isWide({ low, high }: NonNullable<Outlook["after"]>): boolean {
  return high > low * NARROW;
}

/** Formats a range of sizes: `60 to 90 MB`. */
export function rangeWords({ low, high }: NonNullable<Outlook["after"]>): string {
  return strings.between({ low: bytes(low), high: bytes(high) });
}

/** Returns the middle of a range of sizes. */
export function middleOf({ low, high }: NonNullable<Outlook["after"]>): number {
  return (low + high) / 2;
}

function toneOf(before: number | null, after: Outlook["after"]): "" | "over" {
  return before !== null && after !== null && after.low > before * (1 + TOLERANCE) ? "over" : "";
}

function forecastSize({ kind, options, target_size }: Settings, source: Source): Outlook["after"] {
  try {
    const { bytes: max, copied } = forecast(kind, options, source);
    const { filesize = Number.POSITIVE_INFINITY } = source;
    // For an encode, the size of the source is only a ceiling.
    const isKnown = max !== null && (copied || max < filesize);
    const size = target_size === null ? (isKnown ? max : null) : Math.min(target_size, filesize);
    return size === null ? null : { low: size, high: size };
  } catch {
    return null;
  }
}
