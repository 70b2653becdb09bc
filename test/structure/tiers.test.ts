import { expect, test } from "vitest";
import { SLOWEST } from "../slowest.ts";
import { readSources } from "./source-files.ts";
import { classifyTests, statedTier } from "./tiers.ts";

test("the name of every test file states its tier", () => {
  const tiers = classifyTests(readSources("src", "worker", "web", "bench", "core", "test"));
  expect(tiers.size).toBeGreaterThan(300);
  const wrong = [...tiers].filter(([path, tier]) => !["timed", tier].includes(statedTier(path)));
  expect(wrong.map(([path, tier]) => `${path} is of tier ${tier}`)).toEqual([]);
});

test("the files that start first exist", () => {
  const paths = readSources("test").map(({ path }) => path);
  expect(SLOWEST.filter((path) => !paths.includes(path))).toEqual([]);
});

test.for([
  { text: 'import { spawn } from "node:child_process";', tier: "ffmpeg" },
  { text: 'import { createServer } from "node:http";', tier: "service" },
  { text: 'import { chromium } from "@playwright/test";', tier: "browser" },
  { text: 'export { createServer } from "node:http";', tier: "service" },
  { text: 'const { spawn } = await import("node:child_process");', tier: "ffmpeg" },
  { text: 'import type { Page } from "@playwright/test";', tier: "fast" },
  { text: 'import { type Server } from "node:http";', tier: "fast" },
  { text: 'import { join } from "node:path";', tier: "fast" },
])("a test whose helper has $text is of tier $tier", ({ text, tier }) => {
  const files = [
    { path: "test/a.test.ts", text: 'import { b } from "./util/b.ts";' },
    { path: "test/util/b.ts", text: 'import { c } from "../c.ts";' },
    { path: "test/c.ts", text },
  ];
  expect(classifyTests(files)).toEqual(new Map([["test/a.test.ts", tier]]));
});

test("a program, a server and a browser make a browser test", () => {
  const text = ["node:child_process", "node:http", "@playwright/test"].map((name) => `import "${name}";`);
  expect(classifyTests([{ path: "a.test.ts", text: text.join("\n") }])).toEqual(
    new Map([["a.test.ts", "browser"]]),
  );
});

test.for([
  { path: "test/plan/rate.test.ts", tier: "fast" },
  { path: "test/plan/native.ffmpeg.test.ts", tier: "ffmpeg" },
  { path: "test/plan/faults.timed.test.ts", tier: "timed" },
])("$path states the tier $tier", ({ path, tier }) => {
  expect(statedTier(path)).toBe(tier);
});
