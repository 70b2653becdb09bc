import { expect, test } from "vitest";
import { timeLeft } from "../../src/client/progress.ts";
import { TRACES } from "./progress-traces.ts";

// The encode is 85 percent of its task and begins at ten percent.
const TWENTY = (100 * (20 - 10)) / 85;
// Two seconds off do not matter.
const SECONDS = 2;

test.for(Object.entries(TRACES))(
  "for %s, the time left is right within a factor of two from 20 percent on",
  ([, { reports, end }]) => {
    const estimates = reports.map(({ at, percent }, index) => {
      const eta = timeLeft(reports.slice(0, index + 1))?.eta ?? null;
      return { percent, left: end - at, eta };
    });
    const late = estimates.filter(({ percent }) => percent >= TWENTY);
    expect(late.length).toBeGreaterThan(5);
    const off = late.filter(
      ({ left, eta }) =>
        eta === null || (Math.abs(eta - left) > SECONDS && (eta > 2 * left || eta < left / 2)),
    );
    expect(off).toEqual([]);
  },
);

test("returns null before there is anything to measure", () => {
  expect(timeLeft([])).toBeNull();
  expect(timeLeft([{ at: 0, percent: 0 }])).toBeNull();
  // A slow start does not predict the pace.
  expect(
    timeLeft([
      { at: 0, percent: 0 },
      { at: 9, percent: 1 },
    ]),
  ).toBeNull();
});

test("predicts the end of the chunks at a steady pace, and follows a change of pace", () => {
  const at = (seconds: number, percent: number) => ({ at: seconds, percent });
  const steady = [0, 1, 2, 3, 4, 5].map((second) => at(second, 10 * second));
  expect(timeLeft(steady)?.eta).toBeCloseTo(4.5);
  const slower = [...steady, ...Array.from({ length: 10 }, (_, index) => at(6 + index, 51 + index))];
  const eta = timeLeft(slower)?.eta ?? 0;
  expect(eta).toBeGreaterThan(35 / 2);
  expect(eta).toBeLessThan(35);
});

test("does not take a stall of the machine for a slower pace", () => {
  const steady = Array.from({ length: 6 }, (_, second) => ({ at: second, percent: 5 * second }));
  const hitch = [...steady, { at: 15, percent: 30 }, { at: 16, percent: 35 }];
  // 60 percent at 5 a second; with the ten seconds without a report it would be nearly one a second.
  const eta = timeLeft(hitch)?.eta ?? 0;
  expect(eta).toBeGreaterThan(60 / 5);
  expect(eta).toBeLessThan(2 * (60 / 5));
});
