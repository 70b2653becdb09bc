// Milliseconds that `work` takes on a quiet core of the machine that set the limits (AMD EPYC), in milliseconds.
const STANDARD_MS = 66;

/**
 * Measures the machine's speed before something is timed; the returned function measures it again afterwards
 * and scales milliseconds to the machine that set the limits: never up, and down where this machine was
 * slower. So a slow or busy machine passes, and a product that became slow does not.
 */
export function watchPace(clock = wallTime): (took: number) => number {
  const before = slowness(clock);
  let after: number | undefined;
  return (took) => {
    after ??= slowness(clock);
    return took / Math.max(before, after);
  };
}

/** Wall-clock time, in milliseconds. */
export const wallTime = () => performance.now();

/** Processor time in milliseconds, which other programs hardly affect. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

// How many times slower than the standard this machine is now; at least 1.
function slowness(clock: () => number): number {
  const start = clock();
  work();
  return Math.max(1, (clock() - start) / STANDARD_MS);
}

// Integer arithmetic in one small loop: independent of memory, and equally fast on every run.
function work(): number {
  let state = 1;
  for (let round = 0; round < 40_000_000; round++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  return state;
}

// Compiles the loop before the first measurement.
work();
