import { expect, test } from "vitest";
import { bytes, clock, countDown, saving, timeLeft } from "./quantities.ts";

test.for([
  { count: 0, words: "0 B" },
  { count: 999, words: "999 B" },
  { count: 1000, words: "1 kB" },
  { count: 1_434_000, words: "1.43 MB" },
  { count: 999_900, words: "1 MB" },
  { count: 4_000_000_000, words: "4 GB" },
] as const)("$count bytes: $words", ({ count, words }) => {
  expect(bytes(count)).toBe(words);
});

test.for([
  { seconds: 0, exact: false, words: "0:00" },
  { seconds: 7.4, exact: false, words: "0:07" },
  { seconds: 59.7, exact: false, words: "1:00" },
  { seconds: 3723, exact: false, words: "1:02:03" },
  { seconds: 7.456, exact: true, words: "0:07.46" },
  { seconds: 59.999, exact: true, words: "1:00.00" },
] as const)("$seconds s on the clock (exact: $exact): $words", ({ seconds, exact, words }) => {
  expect(clock(seconds, exact)).toBe(words);
});

test.for([
  { seconds: 0.2, words: "almost done" },
  { seconds: 12.1, words: "13 s left" },
  { seconds: 170, words: "3 min left" },
  { seconds: 7500, words: "2 h 5 min left" },
] as const)("$seconds s left: $words", ({ seconds, words }) => {
  expect(timeLeft(seconds)).toBe(words);
});

test("counts down between reports, and never stays at zero", () => {
  expect([0, 4, 8, 10, 20].map((passed) => countDown(10, passed))).toEqual([10, 6, 4, 5, 10]);
});

test.for([
  { before: 12_400_000, after: 3_100_000, text: "12.4 MB → 3.1 MB, 75 % smaller" },
  { before: 1000, after: 1000, text: "1 kB → 1 kB, as large as before" },
  { before: 100_000, after: 99_900, text: "100 kB → 99.9 kB, less than 1 % smaller" },
  { before: 9_000_000, after: 1000, text: "9 MB → 1 kB, more than 99 % smaller" },
  { before: 1000, after: 1380, text: "1 kB → 1.38 kB, 38 % larger" },
  { before: 100_000, after: 100_100, text: "100 kB → 100 kB, less than 1 % larger" },
  { before: 1000, after: 3240, text: "1 kB → 3.24 kB, 3.2 times as large" },
  { before: 0, after: 5, text: "0 B → 5 B, larger" },
] as const)("$before bytes to $after: $text", ({ before, after, text }) => {
  expect(saving(before, after)).toBe(text);
});
