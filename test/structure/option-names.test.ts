import { expect, test } from "vitest";
import { readSources, type SourceFile } from "./source-files.ts";

// Functions take options in JavaScript's style; tasks, connections and uploads take them as on the wire, in src/media and src/runs.
const OPTIONS = /^(?:export )?interface (\w+(?:Options|Limits|Timeouts))\b[^{]*\{\n([\s\S]*?)^\}/gm;
const SNAKE = /^ {2}(?:readonly )?([a-z]+_\w+)\??[:(]/gm;

function snakeOptions({ path, text }: SourceFile): string[] {
  return [...text.matchAll(OPTIONS)].flatMap(([, name = "", body = ""]) =>
    [...body.matchAll(SNAKE)].map(([, option]) => `${path}: ${name}.${option}`),
  );
}

test("the options of functions are in camelCase", () => {
  const files = readSources("src").filter(({ path }) => !/^src\/(media|runs)\//.test(path));
  expect(files.flatMap(snakeOptions)).toEqual([]);
});

test("finds an option in snake_case", () => {
  const text =
    "export interface PoolOptions extends Base {\n  /** Seconds. */\n  silence_seconds?: number;\n}\n";
  expect(snakeOptions({ path: "pool.ts", text })).toEqual(["pool.ts: PoolOptions.silence_seconds"]);
});
