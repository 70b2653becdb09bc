import { expect, test } from "vitest";
import { sideBySide } from "../../src/util/side-by-side.ts";

test("items are taken up in their order, so many at once", async () => {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = sideBySide([0, 1, 2, 3, 4], 2, (item) => {
    begun.push(item);
    return new Promise((resolve) => ends.push(resolve));
  });
  expect(begun).toEqual([0, 1]);
  ends[1]?.();
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  for (const n of [0, 2, 3, 4]) {
    await expect.poll(() => ends.length).toBeGreaterThan(n);
    ends[n]?.();
  }
  await all;
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});

test("after a failure none is taken up, and the first failure counts once all have ended", async () => {
  const begun: number[] = [];
  const heard: unknown[] = [];
  const stop = new AbortController();
  const all = sideBySide(
    [0, 1, 2, 3],
    2,
    (item) => {
      begun.push(item);
      if (item === 1) return Promise.reject("first");
      return new Promise((_, reject) => {
        stop.signal.addEventListener("abort", () => reject("stopped"), { once: true });
      });
    },
    (thrown) => {
      heard.push(thrown);
      stop.abort();
    },
  );
  await expect(all).rejects.toBe("first");
  expect([begun, heard]).toEqual([
    [0, 1],
    ["first", "stopped"],
  ]);
});

test("no items are no work", async () => {
  await sideBySide([], 4, () => Promise.reject(new Error("never")));
});
