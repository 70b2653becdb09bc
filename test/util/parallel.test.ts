import { expect, test } from "vitest";
import { inParallel, settleAll } from "../../src/util/async.ts";

test("starts items in order, no more than the limit at once", async () => {
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const all = inParallel([0, 1, 2, 3, 4], 2, (item) => {
    started.push(item);
    return new Promise((resolve) => ends.push(resolve));
  });
  expect(started).toEqual([0, 1]);
  ends[1]?.();
  await expect.poll(() => started).toEqual([0, 1, 2]);
  for (const n of [0, 2, 3, 4]) {
    await expect.poll(() => ends.length).toBeGreaterThan(n);
    ends[n]?.();
  }
  await all;
  expect(started).toEqual([0, 1, 2, 3, 4]);
});

test("starts nothing after a failure, and rejects with the first failure once all work has ended", async () => {
  const started: number[] = [];
  const failures: unknown[] = [];
  const stop = new AbortController();
  const all = inParallel(
    [0, 1, 2, 3],
    2,
    (item) => {
      started.push(item);
      if (item === 1) return Promise.reject("first");
      return new Promise((_, reject) => {
        stop.signal.addEventListener("abort", () => reject("stopped"), { once: true });
      });
    },
    (thrown) => {
      failures.push(thrown);
      stop.abort();
    },
  );
  await expect(all).rejects.toBe("first");
  expect([started, failures]).toEqual([
    [0, 1],
    ["first", "stopped"],
  ]);
});

test("does nothing for an empty list", async () => {
  await inParallel([], 4, () => Promise.reject(new Error("never")));
});

test("works on every item even where the first fails at once, and rejects with that failure after the last", async () => {
  const ended: number[] = [];
  const all = settleAll([0, 1, 2], async (item) => {
    if (item === 0) throw new Error("first");
    await Promise.resolve();
    ended.push(item);
    if (item === 2) throw new Error("last");
  });
  await expect(all).rejects.toThrow("first");
  expect(ended).toEqual([1, 2]);
});
