import { expect, test } from "vitest";
import { readSources } from "./source-files.ts";

// A file holds one idea, and nobody reads more at once.
const MOST_LINES = 300;

/** Files that may be longer, each a list of many alike or one class that the platform wants whole, and by how much. */
const LONGER: Readonly<Record<string, number>> = {
  "worker/task-object.ts": 340,
  "test/worker/api/document.test.ts": 340,
};

const countLines = (text: string) => text.trimEnd().split("\n").length;

test(`no file is longer than ${MOST_LINES} lines`, () => {
  const files = readSources("src", "worker", "web", "bench", "test");
  expect(files.length).toBeGreaterThan(500);
  const long = files
    .map(({ path, text }) => ({ path, lines: countLines(text) }))
    .filter(({ path, lines }) => lines > (LONGER[path] ?? MOST_LINES));
  expect(long).toEqual([]);
});
