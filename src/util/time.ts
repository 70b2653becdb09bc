/** Resolves after milliseconds; rejects with the signal's reason when it aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", aborted);
      resolve();
    }, ms);
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

/** Settles as the work does, but rejects with the signal's reason as soon as it aborts. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", abort));
}

/** Waits for work for at most `ms` milliseconds; after that, what `late` returns or throws takes its place. */
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
// A longer timer would fire at once.
const MOST_MS = 2 ** 31 - 1;

/** A time limit for anything that takes an AbortSignal. */
export interface TimeLimit {
  /** Aborts when the time is up, and when the caller's own signal does. */
  readonly signal: AbortSignal;
  readonly isOver: boolean;
  /** Restarts the time, after a sign of progress. */
  restart(): void;
  /** Removes the limit; the caller's own signal stays. */
  clear(): void;
}

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
