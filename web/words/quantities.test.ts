import { expect, test } from "vitest";
import { bytes, clock, countDown, timeLeft } from "./quantities.ts";

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
