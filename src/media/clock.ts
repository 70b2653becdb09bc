/** Ticks per second of the filters' clock, which represents all usual frame rates, and milliseconds, exactly. */
export const CLOCK = 120_000;
