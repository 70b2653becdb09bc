import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { limitTime, sleep, within } from "../../src/util/time.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test("work in time is what comes of it", async () => {
  await expect(within(Promise.resolve(7), 100, () => 8)).resolves.toBe(7);
  await expect(within(Promise.reject(new Error("no")), 100, () => 8)).rejects.toThrow("no");
  await expect(within(Promise.resolve(7), Number.POSITIVE_INFINITY, () => 8)).resolves.toBe(7);
});

test("late work is replaced, by a value or an error", async () => {
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

test("a limit aborts when its time is over, counted from its last restart", () => {
  const limit = limitTime(100, { reason: "too slow" });
  vi.advanceTimersByTime(99);
  limit.restart();
  vi.advanceTimersByTime(99);
  expect([limit.isOver, limit.signal.aborted]).toEqual([false, false]);
  vi.advanceTimersByTime(1);
  expect([limit.isOver, limit.signal.aborted, limit.signal.reason]).toEqual([true, true, "too slow"]);
});

test("a limit passes on the caller's own signal, and is not over by that", () => {
  const own = new AbortController();
  const limit = limitTime(100, { signal: own.signal });
  own.abort("enough");
  expect([limit.isOver, limit.signal.reason]).toEqual([false, "enough"]);
  limit.clear();
});

test("a limit that is cleared never aborts", () => {
  const limit = limitTime(100);
  limit.clear();
  vi.advanceTimersByTime(1000);
  expect([limit.isOver, limit.signal.aborted]).toEqual([false, false]);
});

test("a sleep ends with its signal", async () => {
  const own = new AbortController();
  const sleeping = sleep(1000, own.signal);
  const caught = expect(sleeping).rejects.toBe("enough");
  own.abort("enough");
  await caught;
  await expect(sleep(1000, own.signal)).rejects.toBe("enough");
});
