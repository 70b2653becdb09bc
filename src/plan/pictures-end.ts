import type { Source } from "../core/source.ts";
import type { Plan } from "./plan.ts";

/**
 * Returns the seconds from the start of a stretch to the end of its last picture: the end of the stretch or of the source's
 * pictures. Null when the source's headers do not say; the last picture then gets the average duration.
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

/** Returns the seconds from the start of a plan's output, or of one chunk of it, to the end of its last picture; null as above. */
export function shownEnd(
  source: Source,
  plan: Plan,
  span: { start: number; end: number | null } = plan,
): number | null {
  const until = picturesEnd(source, span);
  return until === null ? null : until / (plan.speed ?? 1);
}
