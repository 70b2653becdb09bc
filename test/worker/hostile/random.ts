/** Random draws: the same seed repeats them. */
export interface Draw {
  /** A number from 0 to below 1. */
  share(): number;
  /** A whole number from 0 to below `count`. */
  below(count: number): number;
  one<T>(values: readonly T[]): T;
}

/** Creates draws from a seed with mulberry32, https://github.com/bryc/code/blob/master/jshash/PRNGs.md */
export function createDraw(seed: number): Draw {
  let state = seed;
  const share = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(share() * count);
  return { share, below, one: (values) => values[below(values.length)] as (typeof values)[number] };
}
