export interface Sample {
  /** Seconds, from any origin. */
  at: number;
  /** Percentage of its step. */
  percent: number;
}

export interface Measured {
  /** Share of the encode completed per second. */
  rate: number;
  eta: number;
}

// The chunks' share of a step; stitching them only copies, and takes hardly any time.
const ENCODED_PERCENT = 95;
// Encoders start slowly and machines change their pace, so the last third of the time counts most. On recorded encodes of busy
// machines, a half reacted too late and a quarter took every hitch for a change of pace.
const RECENT = 1 / 3;
// Weight of the last third relative to the whole.
const NEWEST = 4 / 5;
// A gap longer than this many usual gaps between reports is a hitch and says nothing about the pace.
const LONGEST_GAP = 2;
// Seconds; anything shorter is inconclusive, because reports come about once a second.
const SHORTEST = 2;
// Seconds; with less than this between two pictures, the time before the first of them says more.
const FIRST_SPAN = 0.9;
const LEAST_PERCENT = 3;

/**
 * Estimates the rate and the remaining time of an encode from its samples, oldest first; null before anything can be
 * measured.
 */
export function timeLeft(all: readonly Sample[]): Measured | null {
  const samples = withoutHitches(all);
  const last = samples.at(-1);
  const begun = samples.findIndex(({ percent }) => percent > 0);
  if (!last || begun < 0 || last.percent < LEAST_PERCENT) return null;
  // The time before the first picture says nothing about the others, unless it is all there is.
  const first = last.at - (samples[begun]?.at ?? 0) >= FIRST_SPAN ? begun : Math.max(0, begun - 1);
  const from = last.at - Math.max(SHORTEST, (last.at - (samples[first]?.at ?? 0)) * RECENT);
  const base = samples.slice(first).findLast(({ at }) => at <= from) ?? samples[first];
  if (!base || base.at >= last.at || base.percent >= last.percent) return null;
  const origin = samples[first] ?? base;
  const overall = slope(last.at > origin.at ? origin : base, last);
  // A chunk that finishes at once must not make the figures jump.
  const rate = slope(base, last) ** NEWEST * overall ** (1 - NEWEST);
  return { rate, eta: Math.max(0, 1 - last.percent / ENCODED_PERCENT) / rate };
}

function slope(from: Sample, to: Sample): number {
  return (to.percent - from.percent) / (to.at - from.at) / ENCODED_PERCENT;
}

// The time before the first picture is not a gap between pictures, so it stays.
function withoutHitches(samples: readonly Sample[]): Sample[] {
  const begun = samples.filter(({ percent }) => percent > 0);
  const gaps = begun.slice(1).map(({ at }, index) => at - (begun[index]?.at ?? at));
  const usual = gaps.toSorted((one, other) => one - other)[gaps.length >> 1] ?? 0;
  // Two gaps do not show which is the usual one.
  const longest = gaps.length < 3 ? Number.POSITIVE_INFINITY : LONGEST_GAP * usual;
  let saved = 0;
  return samples.map((sample) => {
    const gap = gaps[begun.indexOf(sample) - 1] ?? 0;
    saved += Math.max(0, gap - longest);
    return { ...sample, at: sample.at - saved };
  });
}
