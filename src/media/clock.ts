/** Ticks per second of the filters' clock, which represents all usual frame rates, and milliseconds, exactly. */
export const CLOCK = 120_000;

/** Seconds by which a time may be off through rounding: a frame this close to an edge belongs to the span that starts there. */
export const EPSILON_SECONDS = 0.0005;
