/** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts. */
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

/** Waits for work for at most `ms` milliseconds; after that, returns or throws the result of `late`. */
export async function within<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  const { promise, resolve } = Promise.withResolvers<typeof LATE>();
  const timer = setTimeout(resolve, Math.min(ms, MAX_TIMER_MS), LATE);
  try {
    const first = await Promise.race([work, promise]);
    return first === LATE ? late() : first;
  } finally {
    clearTimeout(timer);
  }
}

const LATE = Symbol("late");
// A longer timer fires at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A time limit for anything that takes an AbortSignal. */
export interface TimeLimit {
  /** Aborts when the time is up or the caller's signal aborts. */
  readonly signal: AbortSignal;
  readonly isOver: boolean;
  /** Restarts the time after progress. */
  restart(): void;
  /** Removes the limit; the caller's signal stays in effect. */
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

export interface RetryOptions {
  /** Attempts in total, including the first. */
  tries: number;
  /** Milliseconds to wait after a number of failed attempts. */
  pauseMs(attempts: number): number;
  /** Aborts a pause, not the work. */
  signal?: AbortSignal | undefined;
  /** Whether another attempt may help after this failure. Default: always. */
  helps?(thrown: unknown): boolean;
}

/**
 * Retries work after pauses and rejects with the last failure. p-retry would treat network errors of workerd and Node's streams as
 * programming errors, because it only recognizes browsers' messages.
 */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { tries, pauseMs, signal, helps = () => true } = options;
  for (let attempts = 1; ; attempts++) {
    try {
      return await work();
    } catch (thrown) {
      if (attempts >= tries || !helps(thrown)) throw thrown;
    }
    await sleep(pauseMs(attempts), signal);
  }
}

/** Returns a function from the number of failed attempts to a pause, which doubles from `firstMs` up to `maxMs`. */
export function doubling(firstMs: number, maxMs = Number.POSITIVE_INFINITY): (attempts: number) => number {
  return (attempts) => Math.min(firstMs * 2 ** (attempts - 1), maxMs);
}

const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Returns whether a server with this status may accept the same request a little later. */
export function isTransient(status: number): boolean {
  return TRANSIENT.has(status);
}

/**
 * Works on items in order, at most `limit` at once. After a failure it starts no further item; `onFailure` may stop the work in
 * progress. Rejects with the first failure once no work is in progress; p-map rejects at once, while other items still write files
 * that the caller then removes (test/util/parallel).
 */
export async function inParallel<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
  onFailure: (thrown: unknown) => void = () => {},
): Promise<void> {
  const failures: unknown[] = [];
  const iterator = items[Symbol.iterator]();
  const runItems = async () => {
    while (failures.length === 0) {
      const next = iterator.next();
      if (next.done) return;
      try {
        await work(next.value);
      } catch (thrown) {
        failures.push(thrown);
        onFailure(thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, limit) }, runItems));
  if (failures.length > 0) throw failures[0];
}

/** Works on all items at once, even if one fails; then rejects with the first failure. */
export async function settleAll<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const results = await Promise.allSettled(items.map(work));
  const failure = results.find((result) => result.status === "rejected");
  if (failure) throw failure.reason;
}

const INTERVAL_MS = 500;

/** Throttles reports: calls through at most twice a second and drops the rest. */
export function throttle<A extends unknown[]>(
  report: (...args: A) => Promise<void>,
): (...args: A) => Promise<void> {
  let last = 0;
  return async (...args) => {
    const now = Date.now();
    if (now - last < INTERVAL_MS) return;
    last = now;
    await report(...args);
  };
}

/** Runs at most `slots` operations at once, in order of arrival. */
export function createSlots(slots: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let freeSlots = slots;
  return async function inTurn(work) {
    if (freeSlots > 0) freeSlots--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else freeSlots++;
    }
  };
}

/** A first-in, first-out queue with a limited number of slots and a shared budget. */
export interface SlotQueue {
  /**
   * Resolves to a function that frees the slot; rejects when the signal aborts. A request larger than the whole budget waits until
   * it can run alone.
   */
  take(amount: number, signal: AbortSignal): Promise<() => void>;
}

interface QueueEntry {
  amount: number;
  start(): void;
}

/** Creates a queue with `slots` slots that share `budget`. */
export function createSlotQueue(slots: number, budget: number): SlotQueue {
  const queue: QueueEntry[] = [];
  let running = 0;
  let usage = 0;

  function next(): void {
    for (;;) {
      const first = queue[0];
      if (!first || running >= slots || (running > 0 && usage + first.amount > budget)) return;
      queue.shift();
      running++;
      usage += first.amount;
      first.start();
    }
  }

  return {
    take(amount, signal) {
      return new Promise<() => void>((resolve, reject) => {
        signal.throwIfAborted();
        const abort = () => {
          queue.splice(queue.indexOf(waiting), 1);
          reject(signal.reason);
          next();
        };
        const waiting = {
          amount,
          start() {
            signal.removeEventListener("abort", abort);
            let over = false;
            resolve(() => {
              if (over) return;
              over = true;
              running--;
              usage -= amount;
              next();
            });
          },
        };
        signal.addEventListener("abort", abort, { once: true });
        queue.push(waiting);
        next();
      });
    },
  };
}
