import { doubling, retry } from "../../src/util/async.ts";

const FIRST_WAIT_MS = 50;
const ATTEMPTS = 9;
/** Attempts for calls whose loss would repeat expensive work; they take up to 3.4 minutes. */
export const MANY_ATTEMPTS = 13;

/**
 * Retries a call to a Durable Object, which rejects briefly while it is moved, updated or overloaded. Waits 50 ms, then twice as long
 * each time (13 s in all by default), and rejects with the last error.
 */
export function patiently<T>(call: () => Promise<T>, tries = ATTEMPTS): Promise<T> {
  return retry(call, { tries, pauseMs: doubling(FIRST_WAIT_MS) });
}

/** The methods of an object as RPC exposes them. */
export type Remote<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;
};
