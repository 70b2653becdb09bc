import {
  type Forecast,
  forecast,
  MediaError,
  optionsForSize,
  parseTaskRequest,
  type Source,
} from "../../src/index.ts";
import type { Fault, Wishes } from "../queue/item.ts";
import { loweredWords } from "../words/lowered-words.ts";
import { reasonWords } from "../words/reason-words.ts";
import { bitrateBounds } from "./choices.ts";

/** What is wrong with wishes, and at which field. */
export interface WishFault extends Fault {
  /** Name of the option, `target_size`, or null where no one field is at fault. */
  readonly field: string | null;
}

/** What is to be said of wishes before they are started: what will come of them, or what is wrong. */
export type Verdict =
  | { readonly fault: null; readonly forecast: Forecast; readonly lowered: string | null }
  | { readonly fault: WishFault; readonly forecast: null; readonly lowered: null };

/** Judges the wishes for a source as a task's request would be, and as its plan would. */
export function checkWishes({ kind, options, target_size }: Wishes, source: Source): Verdict {
  try {
    // Any address does: the file itself is not a matter of options.
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

/** Returns wishes with what is wrong with them, so that nothing wrong is started, and what gives way for their size. */
export function judged(wishes: Wishes, source: Source): Wishes {
  const { fault, lowered } = checkWishes(wishes, source);
  return { ...wishes, lowered, fault: fault && { kind: fault.kind, message: fault.message } };
}

// In the words of the page where it has its own.
function sayFault({ message, reason }: MediaError, field: string | null, kind: Wishes["kind"]): string {
  if (field === "bitrate") {
    const { min, max } = bitrateBounds(kind);
    return `Bitrate must be a number from ${min / 1000} to ${max / 1000} kbit/s.`;
  }
  return (reason && reasonWords(reason)) || message;
}
