import { expect, test } from "vitest";
import { timeLeft } from "../../src/client/follow/time-left.ts";
import { TRACES } from "./progress-traces.ts";

// An encode begins at ten percent of its task, and is 85 of them.
const TWENTY = (100 * (20 - 10)) / 85;
// Of seconds, no one minds two.
const SECONDS = 2;

test.for(Object.entries(TRACES))(
  "of %s the time left is never off by more than a factor of two after 20 %",
  ([, { samples, end }]) => {
    const told = samples.map(({ at, percent }, index) => {
      const eta = timeLeft(samples.slice(0, index + 1))?.eta ?? null;
      return { percent, left: end - at, eta };
    });
    const late = told.filter(({ percent }) => percent >= TWENTY);
    expect(late.length).toBeGreaterThan(5);
    const off = late.filter(
      ({ left, eta }) =>
        eta === null || (Math.abs(eta - left) > SECONDS && (eta > 2 * left || eta < left / 2)),
    );
    expect(off).toEqual([]);
  },
);

test("nothing is said before there is anything to measure", () => {
  expect(timeLeft([])).toBeNull();
  expect(timeLeft([{ at: 0, percent: 0 }])).toBeNull();
  // A slow start says nothing of the pace.
  expect(
    timeLeft([
      { at: 0, percent: 0 },
      { at: 9, percent: 1 },
    ]),
  ).toBeNull();
});

test("a steady encode ends when its chunks are done, and a change of pace is followed", () => {
  const at = (seconds: number, percent: number) => ({ at: seconds, percent });
  const steady = [0, 1, 2, 3, 4, 5].map((second) => at(second, 10 * second));
  expect(timeLeft(steady)?.eta).toBeCloseTo(4.5);
  const slower = [...steady, ...Array.from({ length: 10 }, (_, index) => at(6 + index, 51 + index))];
  const eta = timeLeft(slower)?.eta ?? 0;
  expect(eta).toBeGreaterThan(35 / 2);
  expect(eta).toBeLessThan(35);
});

test("a hitch of the machine is not taken for a slower pace", () => {
  const steady = Array.from({ length: 6 }, (_, second) => ({ at: second, percent: 5 * second }));
  const hitch = [...steady, { at: 15, percent: 30 }, { at: 16, percent: 35 }];
  // 60 percent at 5 a second; with the ten seconds without a report it would be nearly one a second.
  const eta = timeLeft(hitch)?.eta ?? 0;
  expect(eta).toBeGreaterThan(60 / 5);
  expect(eta).toBeLessThan(2 * (60 / 5));
});
