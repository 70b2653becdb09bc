import { expect, test } from "vitest";
import { timeByKey } from "./slider-keys.ts";

const plain = { shiftKey: false, ctrlKey: false, altKey: false, metaKey: false };

test.for([
  ["ArrowRight", false, 5.1],
  ["ArrowUp", false, 5.1],
  ["ArrowLeft", false, 4.9],
  ["ArrowDown", true, 4],
  ["ArrowRight", true, 6],
  ["PageUp", false, 15],
  ["PageDown", false, 1],
  ["Home", false, 1],
  ["End", false, 20],
  ["a", false, null],
  ["Tab", true, null],
] as const)("%s, with Shift %s, moves from 5 to %s", ([key, shiftKey, time]) => {
  expect(timeByKey({ ...plain, key, shiftKey }, 5, [1, 20])).toBe(time);
});

test("ignores the browser's own shortcuts", () => {
  expect(timeByKey({ ...plain, key: "ArrowLeft", altKey: true }, 5, [1, 20])).toBeNull();
});

test("tenths add up to whole seconds", () => {
  let time = 0;
  for (let step = 0; step < 100; step++) {
    time = timeByKey({ ...plain, key: "ArrowRight" }, time, [0, 20]) ?? 0;
  }
  expect(time).toBe(10);
});
