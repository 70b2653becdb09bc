import type { Source } from "../core/source.ts";

/**
 * Returns the seconds from the start of a stretch at which its last picture ends: where the stretch does, or where the source's
 * pictures do. Null where the source's headers leave that open, so that the last picture lasts as long as one does on average.
 */
export function picturesEnd(
  source: Source,
  { start, end }: { start: number; end: number | null },
): number | null {
  const last = source.streams?.find(({ kind }) => kind === "video")?.end;
  if (last === undefined) return null;
  const until = Math.min(end ?? last, last) - start;
  return until > 0 ? until : null;
}
