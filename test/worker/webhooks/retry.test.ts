import { expect, test } from "vitest";
import { GIVE_UP_MS, nextAttempt } from "../../../worker/webhooks/delivery.ts";

const SINCE = 1_800_000_000_000;

function schedule(random: number): number[] {
  const delays: number[] = [];
  for (let now = SINCE, attempts = 1; ; attempts++) {
    const next = nextAttempt({ attempts, since: SINCE }, now, 5000, random);
    if (next === null) return delays;
    delays.push(next - now);
    now = next;
  }
}

test("delays grow fourfold up to twelve hours, and the last attempt is three days after the first", () => {
  const delays = schedule(0.5);
  const seconds = [5, 20, 80, 320, 1280, 5120, 20_480, 43_200, 43_200, 43_200, 43_200, 43_200];
  expect(delays.slice(0, -1)).toEqual(seconds.map((each) => each * 1000));
  expect(delays.reduce((sum, each) => sum + each)).toBe(GIVE_UP_MS);
});

test("varies each delay by up to a fifth", () => {
  expect(schedule(0).slice(0, 3)).toEqual([4000, 16_000, 64_000]);
  expect(schedule(0.999_999).slice(0, 3)).toEqual([6000, 24_000, 96_000]);
  for (const random of [0, 0.3, 0.999_999])
    expect(schedule(random).reduce((sum, each) => sum + each)).toBe(GIVE_UP_MS);
});
