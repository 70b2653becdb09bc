import { expect, test } from "vitest";
import { bytes, clock, countDown, saving, timeLeft } from "./quantities.ts";

test.for([
  [0, "0 B"],
  [999, "999 B"],
  [1000, "1 kB"],
  [1_434_000, "1.43 MB"],
  [999_900, "1 MB"],
  [4_000_000_000, "4 GB"],
] as const)("%d bytes: %s", ([count, words]) => {
  expect(bytes(count)).toBe(words);
});

test.for([
  [0, false, "0:00"],
  [7.4, false, "0:07"],
  [59.7, false, "1:00"],
  [3723, false, "1:02:03"],
  [7.456, true, "0:07.46"],
  [59.999, true, "1:00.00"],
] as const)("%d s on the clock (exact: %s): %s", ([seconds, exact, words]) => {
  expect(clock(seconds, exact)).toBe(words);
});

test.for([
  [0.2, "almost done"],
  [12.1, "13 s left"],
  [170, "3 min left"],
  [7500, "2 h 5 min left"],
] as const)("%d s left: %s", ([seconds, words]) => {
  expect(timeLeft(seconds)).toBe(words);
});

test("counts down between reports, and never stays at zero", () => {
  expect([0, 4, 8, 10, 20].map((passed) => countDown(10, passed))).toEqual([10, 6, 4, 5, 10]);
});

test.for([
  [12_400_000, 3_100_000, "12.4 MB → 3.1 MB, 75 % smaller"],
  [1000, 1000, "1 kB → 1 kB, as large as before"],
  [100_000, 99_900, "100 kB → 99.9 kB, less than 1 % smaller"],
  [9_000_000, 1000, "9 MB → 1 kB, more than 99 % smaller"],
  [1000, 1380, "1 kB → 1.38 kB, 38 % larger"],
  [100_000, 100_100, "100 kB → 100 kB, less than 1 % larger"],
  [1000, 3240, "1 kB → 3.24 kB, 3.2 times as large"],
  [0, 5, "0 B → 5 B, larger"],
] as const)("%d bytes to %d: %s", ([before, after, text]) => {
  expect(saving(before, after)).toBe(text);
});
