import { expect, test } from "vitest";
import { findImpure } from "./purity.ts";
import { readSources } from "./source-files.ts";

test("core, plan and ffmpeg are deterministic", () => {
  const files = readSources("src/core", "src/plan", "src/route", "src/words", "src/ffmpeg");
  expect(files.length).toBeGreaterThan(15);
  expect(files.flatMap(findImpure)).toEqual([]);
});

test.for([
  ["const now = Date.now();", "Date.now"],
  ["const now = new Date();", "new Date()"],
  ["export const pick = () => Math.random() * 2;", "Math.random"],
  ["await fetch(url);", "fetch"],
  ["setTimeout(() => {}, 1);", "setTimeout"],
])("%s is found", ([text, name]) => {
  expect(findImpure({ path: "x.ts", text: text ?? "" })).toEqual([`x.ts: ${name}`]);
});

test("a date made of given numbers is fine", () => {
  expect(findImpure({ path: "x.ts", text: "new Date(now).getTime(); // Date.now()" })).toEqual([]);
});
