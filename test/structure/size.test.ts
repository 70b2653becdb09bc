import { posix } from "node:path";
import { expect, test } from "vitest";
import { readSources } from "./source-files.ts";

// A file should hold one idea, short enough to read at once.
const MOST_LINES = 300;
const MOST_FILES = 25;

// A list that a command writes is looked up, not read.
const isWritten = (text: string) => text.startsWith("// Written by `npm run");
const countLines = (text: string) => text.trimEnd().split("\n").length;

test(`no file has more than ${MOST_LINES} lines`, () => {
  const files = readSources("src", "worker", "web", "bench", "test");
  expect(files.length).toBeGreaterThan(500);
  const long = files
    .filter(({ text }) => !isWritten(text))
    .map(({ path, text }) => ({ path, lines: countLines(text) }))
    .filter(({ lines }) => lines > MOST_LINES);
  expect(long).toEqual([]);
});

test(`no folder has more than ${MOST_FILES} source files`, () => {
  const counts = new Map<string, number>();
  for (const { path } of readSources("src", "worker", "web", "bench")) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  expect(counts.size).toBeGreaterThan(50);
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});
