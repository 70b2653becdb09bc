import { errorFor } from "../words/reason-words.ts";

/** A stretch of the source in seconds; `end` is null for to the end, `duration` null when unknown. */
export interface Span {
  start: number;
  end: number | null;
  duration: number | null;
}

/** Settles the stretch that is kept; an end beyond the source's is the source's. Throws `invalid_options` for a start at or beyond it, unless its length is `estimated`. */
export function createSpan(
  options: { start?: number | undefined; end?: number | undefined },
  duration: number | undefined,
  estimated = false,
): Span {
  const start = options.start ?? 0;
  const known = duration !== undefined && duration > 0 ? duration : null;
  // Of what is estimated, the true end may lie further on.
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
