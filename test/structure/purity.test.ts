import { expect, test } from "vitest";
import { findImpure } from "./purity.ts";
import { readSources } from "./source-files.ts";

test("media and runs are deterministic", () => {
  const files = readSources("src/media", "src/runs").filter(
    ({ path }) => !path.startsWith("src/runs/steps/"),
  );
  expect(files.length).toBeGreaterThan(15);
  expect(files.flatMap(findImpure)).toEqual([]);
});

test.for([
  ["const now = Date.now();", "Date.now"],
  ["const now = new Date();", "new Date()"],
  ["export const pick = () => Math.random() * 2;", "Math.random"],
  ["await fetch(url);", "fetch"],
  ["setTimeout(() => {}, 1);", "setTimeout"],
])("finds %s", ([text, name]) => {
  expect(findImpure({ path: "x.ts", text: text ?? "" })).toEqual([`x.ts: ${name}`]);
});

test("accepts a date built from an argument, and comments", () => {
  expect(findImpure({ path: "x.ts", text: "new Date(now).getTime(); // Date.now()" })).toEqual([]);
});
