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
  { text: "const now = Date.now();", name: "Date.now" },
  { text: "const now = new Date();", name: "new Date()" },
  { text: "export const pick = () => Math.random() * 2;", name: "Math.random" },
  { text: "await fetch(url);", name: "fetch" },
  { text: "setTimeout(() => {}, 1);", name: "setTimeout" },
])("finds $text", ({ text, name }) => {
  expect(findImpure({ path: "x.ts", text: text ?? "" })).toEqual([`x.ts: ${name}`]);
});

test("accepts a date built from an argument, and comments", () => {
  expect(findImpure({ path: "x.ts", text: "new Date(now).getTime(); // Date.now()" })).toEqual([]);
});
