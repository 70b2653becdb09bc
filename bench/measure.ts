import type { Benchmark, Measurement, Result } from "./benchmark.ts";

/** Measured rounds of every benchmark, after a warm-up that does not count. */
export const RUNS = 5;

/** The middle value, or the mean of the two in the middle; NaN for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  const lower = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/** The smallest value that at least `percent` of the values do not exceed (nearest rank); NaN for an empty list. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

export function medianOf(samples: readonly Measurement[], fact: string): number {
  return median(samples.map((sample) => sample[fact] ?? Number.NaN));
}

/** Combines the samples of both sides, paired by round, into a result. */
export function summarize(
  { name, unit }: Pick<Benchmark, "name" | "unit">,
  ours: readonly Measurement[],
  peer: readonly Measurement[],
  notes: string,
): Result {
  const ratios = peer.map((sample, round) => (ours[round]?.value ?? Number.NaN) / sample.value);
  return {
    name,
    ours: medianOf(ours, "value"),
    peer: peer.length > 0 ? medianOf(peer, "value") : null,
    ratio: ratios.length > 0 ? median(ratios) : null,
    unit,
    runs: ours.length,
    notes,
  };
}

/** Runs peer and ours alternately, once to warm up and then `runs` times; always cleans up. */
export async function runBenchmark(benchmark: Benchmark, runs: number = RUNS): Promise<Result> {
  await using ends = new AsyncDisposableStack();
  const contest = await benchmark.open(ends);
  const ours: Measurement[] = [];
  const peer: Measurement[] = [];
  for (let round = 0; round <= runs; round++) {
    const theirs = await contest.peer?.();
    const own = await contest.ours();
    if (round === 0) continue;
    if (theirs) peer.push(theirs);
    ours.push(own);
  }
  return summarize(benchmark, ours, peer, contest.notes(ours, peer));
}
