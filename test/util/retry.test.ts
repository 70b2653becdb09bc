import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { doubling, isTransient, retry } from "../../src/util/async.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const failing = (times: number) => {
  let tried = 0;
  return vi.fn(async () => {
    if (++tried <= times) throw new TypeError(`try ${tried}`);
    return tried;
  });
};

test("retries after growing pauses until the work succeeds", async () => {
  const work = failing(3);
  const began = Date.now();
  const result = retry(work, { tries: 5, pauseMs: doubling(100, 250) });
  await vi.runAllTimersAsync();
  expect(await result).toBe(4);
  expect(Date.now() - began).toBe(100 + 200 + 250);
});

test("rejects with the last failure, or at once when no retry would help", async () => {
  const work = failing(9);
  const result = retry(work, { tries: 2, pauseMs: () => 10 });
  const caught = expect(result).rejects.toThrow(new TypeError("try 2"));
  await vi.runAllTimersAsync();
  await caught;
  const hopeless = failing(9);
  await expect(retry(hopeless, { tries: 5, pauseMs: () => 10, helps: () => false })).rejects.toThrow("try 1");
  expect([work.mock.calls.length, hopeless.mock.calls.length]).toEqual([2, 1]);
});

test("a signal aborts a pause", async () => {
  const stop = new AbortController();
  const work = failing(9);
  const result = retry(work, { tries: 5, pauseMs: () => 60_000, signal: stop.signal });
  const caught = expect(result).rejects.toBe("enough");
  await vi.advanceTimersByTimeAsync(0);
  stop.abort("enough");
  await caught;
  expect(work).toHaveBeenCalledTimes(1);
});

test("only 408, 425, 429, 500 and 502 to 504 are transient", () => {
  const statuses = Array.from({ length: 600 }, (_, status) => status);
  expect(statuses.filter(isTransient)).toEqual([408, 425, 429, 500, 502, 503, 504]);
});
