import { expect, test } from "vitest";
import { readSources } from "./source-files.ts";

// A file holds one idea, and nobody reads more at once.
const MOST_LINES = 300;

const countLines = (text: string) => text.trimEnd().split("\n").length;

test(`no file is longer than ${MOST_LINES} lines`, () => {
  const files = readSources("src", "worker", "web", "bench", "test");
  expect(files.length).toBeGreaterThan(500);
  const long = files
    .map(({ path, text }) => ({ path, lines: countLines(text) }))
    .filter(({ lines }) => lines > MOST_LINES);
  expect(long).toEqual([]);
});
