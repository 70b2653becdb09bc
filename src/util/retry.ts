import { sleep } from "./sleep.ts";

export interface RetryOptions {
  /** Attempts in total, including the first. */
  tries: number;
  /** Milliseconds to wait after a number of failed attempts. */
  pauseMs(tried: number): number;
  /** Ends a pause; the work takes its own signal. */
  signal?: AbortSignal | undefined;
  /** Whether another attempt may help after this failure. Default: always. */
  helps?(thrown: unknown): boolean;
}

/**
 * Retries work after pauses and rejects with the last failure. Not p-retry, which takes a TypeError for a programming error
 * unless it recognizes a browser's network error, and does not know the messages of workerd and Node's streams.
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

/** Returns pauses that double from the first one up to a maximum. */
export function doubling(firstMs: number, mostMs = Number.POSITIVE_INFINITY): (tried: number) => number {
  return (tried) => Math.min(firstMs * 2 ** (tried - 1), mostMs);
}
