import { sleep } from "./sleep.ts";

/** How work is retried. */
export interface RetryOptions {
  /** Tries in all, the first included. */
  tries: number;
  /** Milliseconds before another try, after so many. */
  pauseMs(tried: number): number;
  /** Ends a pause; work takes a signal of its own. */
  signal?: AbortSignal | undefined;
  /** Whether another try may help after this failure; by default always. */
  helps?(thrown: unknown): boolean;
}

/**
 * Tries work again after pauses, and rejects with the last failure. Not p-retry: that takes a TypeError for a mistake in the code unless
 * it knows its words as a browser's network error, which those of workerd and Node's streams are not.
 */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { tries, pauseMs, signal, helps = () => true } = options;
  for (let tried = 1; ; tried++) {
    try {
      return await work();
    } catch (thrown) {
      if (tried >= tries || !helps(thrown)) throw thrown;
    }
    await sleep(pauseMs(tried), signal);
  }
}

/** Returns pauses that double from the first one, up to a longest one. */
export function doubling(firstMs: number, mostMs = Number.POSITIVE_INFINITY): (tried: number) => number {
  return (tried) => Math.min(firstMs * 2 ** (tried - 1), mostMs);
}
