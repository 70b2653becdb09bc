import { doubling, retry } from "../../src/util/async.ts";

const FIRST_WAIT_MS = 50;
const ATTEMPTS = 9;
/** Attempts that take 3.4 minutes in all: for what would have to be done again if it got lost. */
export const MANY_ATTEMPTS = 13;

/**
 * Calls a Durable Object until it answers: one that is moved, updated or overloaded rejects for a moment, which is no
 * news of the run. Waits 50 ms, then twice as long each time (13 s in all), and rejects with the last fault.
 */
export function patiently<T>(call: () => Promise<T>, tries = ATTEMPTS): Promise<T> {
  return retry(call, { tries, pauseMs: doubling(FIRST_WAIT_MS) });
}

/** The methods of an object as they are called over RPC. */
export type Remote<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<R> : never;
};
