import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { limitTime, sleep, within } from "../../src/util/async.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test("work that ends in time keeps its result or its error", async () => {
  await expect(within(Promise.resolve(7), 100, () => 8)).resolves.toBe(7);
  await expect(within(Promise.reject(new Error("no")), 100, () => 8)).rejects.toThrow("no");
  await expect(within(Promise.resolve(7), Number.POSITIVE_INFINITY, () => 8)).resolves.toBe(7);
});

test("replaces late work with a value or an error", async () => {
  const never = new Promise<number>(() => {});
  const replaced = within(never, 100, () => 8);
  const failed = within(never, 100, () => {
    throw new RangeError("late");
  });
  const caught = expect(failed).rejects.toThrow(RangeError);
  await vi.advanceTimersByTimeAsync(100);
  expect(await replaced).toBe(8);
  await caught;
});

test("a limit aborts when its time is up, counted from the last restart", () => {
  const limit = limitTime(100, { reason: "too slow" });
  vi.advanceTimersByTime(99);
  limit.restart();
  vi.advanceTimersByTime(99);
  expect([limit.isOver, limit.signal.aborted]).toEqual([false, false]);
  vi.advanceTimersByTime(1);
  expect([limit.isOver, limit.signal.aborted, limit.signal.reason]).toEqual([true, true, "too slow"]);
});

test("a limit forwards the caller's abort without counting as over", () => {
  const own = new AbortController();
  const limit = limitTime(100, { signal: own.signal });
  own.abort("enough");
  expect([limit.isOver, limit.signal.reason]).toEqual([false, "enough"]);
  limit.clear();
});

test("a cleared limit never aborts", () => {
  const limit = limitTime(100);
  limit.clear();
  vi.advanceTimersByTime(1000);
  expect([limit.isOver, limit.signal.aborted]).toEqual([false, false]);
});

test("a sleep rejects when its signal aborts, or has aborted before", async () => {
  const own = new AbortController();
  const sleeping = sleep(1000, own.signal);
  const caught = expect(sleeping).rejects.toBe("enough");
  own.abort("enough");
  await caught;
  await expect(sleep(1000, own.signal)).rejects.toBe("enough");
});
