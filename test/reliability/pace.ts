// What `work` takes on a quiet core of the machine that the limits were set on (AMD EPYC), in milliseconds.
const STANDARD_MS = 66;

/**
 * Looks how fast the machine works before something is timed; what it gives looks again after it, and turns milliseconds into what they
 * would be on the machine that limits were set on: never more, and less where this one was slower. A slow machine, or one with
 * much else to do, so passes; a product that has grown slow does not.
 */
export function watchPace(clock = wallTime): (took: number) => number {
  const before = slowness(clock);
  let after: number | undefined;
  return (took) => {
    after ??= slowness(clock);
    return took / Math.max(before, after);
  };
}

/** The clock for what is timed by any clock on the wall, in milliseconds. */
export const wallTime = () => performance.now();

/** The clock for what is timed by the processor time that it took, in milliseconds: what else runs hardly counts. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

// How many times slower than the standard this machine works now; at least 1.
function slowness(clock: () => number): number {
  const begun = clock();
  work();
  return Math.max(1, (clock() - begun) / STANDARD_MS);
}

// Integers alone, in one small loop: nothing of it depends on memory, and it runs as fast from the first time on.
function work(): number {
  let state = 1;
  for (let round = 0; round < 40_000_000; round++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  return state;
}

// Compiled beforehand.
work();
