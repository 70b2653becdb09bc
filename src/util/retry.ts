import { sleep } from "./time.ts";

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

const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Returns whether a server with this status may accept the same request a little later. */
export function isTransient(status: number): boolean {
  return TRANSIENT.has(status);
}
