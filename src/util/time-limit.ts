/** Waits for work at most so many milliseconds; what `late` returns or throws then takes its place. */
export async function within<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<typeof LATE>();
  const timer = setTimeout(resolve, Math.min(ms, MOST_MS), LATE);
  try {
    const first = await Promise.race([work, promise]);
    return first === LATE ? late() : first;
  } finally {
    clearTimeout(timer);
  }
}

const LATE = Symbol("late");
// A longer timer would go off at once.
const MOST_MS = 2 ** 31 - 1;

/** A limit of time for whatever takes an AbortSignal. */
export interface TimeLimit {
  /** Aborts when the time is over, and when the caller's own signal does. */
  readonly signal: AbortSignal;
  /** True once the time is over. */
  readonly isOver: boolean;
  /** Starts the time again, after a sign of progress. */
  restart(): void;
  /** Lifts the limit; the caller's own signal stays. */
  clear(): void;
}

/** Starts a {@link TimeLimit} of so many milliseconds. */
export function limitTime(
  ms: number,
  options: { signal?: AbortSignal | undefined; reason?: unknown } = {},
): TimeLimit {
  const over = new AbortController();
  const start = () => setTimeout(() => over.abort(options.reason), ms);
  let timer = start();
  return {
    signal: options.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal,
    get isOver() {
      return over.signal.aborted;
    },
    restart() {
      clearTimeout(timer);
      timer = start();
    },
    clear: () => clearTimeout(timer),
  };
}
