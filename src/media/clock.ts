/** Ticks per second of the filters' time base, which represents all common frame rates, and milliseconds, exactly. */
export const CLOCK = 120_000;

/** Tolerance in seconds for rounded times: a frame this close to an edge belongs to the span that starts there. */
export const EPSILON_SECONDS = 0.0005;
