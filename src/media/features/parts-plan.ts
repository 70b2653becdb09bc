import type { Plan, PlannedPart } from "../plan.ts";

/** A part and its place among all. */
export interface NumberedPart extends PlannedPart {
  index: number;
}

/** The parts that one input of ffmpeg reads, in the order of the source. */
export interface PartRun {
  /** Index of ffmpeg's input. */
  input: number;
  /** Seconds of the source. */
  start: number;
  end: number;
  /** Start of the first part in the output, in seconds. */
  at: number;
  parts: readonly NumberedPart[];
}

// Decoding a short gap takes less time than opening the file again.
const MAX_GAP_SECONDS = 30;
// Rounding to whole pictures may extend a part beyond the start of the next.
const MAX_OVERLAP_SECONDS = 0.05;
// A hundred inputs exceed the memory of the light encoder. If parts jump back more often, later ones wait in memory.
const MAX_INPUTS = 8;

/** Groups the parts of a plan by the inputs that read them; empty for a plan without parts. */
export function partRuns({ parts = [] }: Pick<Plan, "parts">): PartRun[] {
  const groups: NumberedPart[][] = [];
  for (const [index, part] of parts.entries()) {
    const gapAfter = (group: NumberedPart[]) => part.start - Math.max(...group.map(({ end }) => end));
    const behind = groups.filter((group) => gapAfter(group) >= -MAX_OVERLAP_SECONDS);
    const nearest = behind.toSorted((a, b) => gapAfter(a) - gapAfter(b))[0];
    const isFull = groups.length >= MAX_INPUTS;
    const joins = nearest && (isFull || gapAfter(nearest) <= MAX_GAP_SECONDS) ? nearest : null;
    const group = joins ?? (isFull ? groups.at(-1) : undefined);
    if (group) group.push({ ...part, index });
    else groups.push([{ ...part, index }]);
  }
  return groups.map((group, input) => ({
    input,
    start: Math.min(...group.map(({ start }) => start)),
    end: Math.max(...group.map(({ end }) => end)),
    at: group[0]?.at ?? 0,
    parts: group.toSorted((a, b) => a.start - b.start),
  }));
}

/** Returns the maximum seconds of decoded pictures or sound that wait in memory until earlier parts of the output are decoded. */
export function waitingSeconds(plan: Pick<Plan, "parts">): number {
  return partRuns(plan).reduce((total, { parts }) => {
    const order = parts.map(({ index }) => index).sort((a, b) => a - b);
    const decoded = new Map<number, number>();
    let [next, waiting, peak] = [0, 0, 0];
    for (const { index, start, end } of parts) {
      decoded.set(index, end - start);
      waiting += end - start;
      if (index !== order[next]) peak = Math.max(peak, waiting);
      for (let seconds = decoded.get(order[next] ?? -1); seconds !== undefined; ) {
        waiting -= seconds;
        seconds = decoded.get(order[++next] ?? -1);
      }
    }
    return total + peak;
  }, 0);
}
