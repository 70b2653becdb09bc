import { errorFor } from "../words/reason-words.ts";

/** A stretch of the source in seconds; `end` is null up to the end, `duration` null when unknown. */
export interface Span {
  start: number;
  end: number | null;
  duration: number | null;
}

/**
 * Decides which stretch to keep, and limits its end to the source's. Throws `invalid_options` for a start at or beyond the
 * source's end, unless its duration is `estimated`.
 */
export function createSpan(
  options: { start?: number | undefined; end?: number | undefined },
  duration: number | undefined,
  estimated = false,
): Span {
  const start = options.start ?? 0;
  const known = duration !== undefined && duration > 0 ? duration : null;
  // The true end may lie beyond an estimate.
  if (estimated && options.end !== undefined)
    return { start, end: options.end, duration: options.end - start };
  if (estimated && known !== null && start >= known) return { start, end: null, duration: null };
  if (known !== null && start >= known) {
    const reason = { code: "start_beyond_end", start, duration: Number(known.toFixed(3)) } as const;
    throw errorFor("invalid_options", reason, { param: "options.start" });
  }
  const { end } = options;
  if (end === undefined || (known !== null && end >= known)) {
    return { start, end: null, duration: known === null ? null : known - start };
  }
  return { start, end, duration: end - start };
}

/** Returns a span with the duration that it has at another speed. */
export function played(span: Span, speed: number): Span {
  return { ...span, duration: span.duration === null ? null : span.duration / speed };
}
