import { expect, test } from "vitest";
import { findCycles } from "./cycles.ts";
import { readSources } from "./source-files.ts";

test("there are no import cycles, types included", () => {
  expect(findCycles(readSources("src", "worker", "web"))).toEqual([]);
});

test.for([
  ['import type { B } from "./b.ts";', 'import { C } from "./c.ts";', 'import { A } from "./a.ts";'],
  ['export * from "./b.ts";', 'const c = import("./c.ts");', 'type A = import("./a.ts").A;'],
])("finds a cycle of three files: %s", (texts) => {
  const files = texts.map((text, n) => ({ path: `src/runs/${"abc"[n]}.ts`, text }));
  const other = { path: "src/runs/d.ts", text: 'import "./a.ts";' };
  expect(findCycles([other, ...files])).toEqual([["src/runs/a.ts", "src/runs/b.ts", "src/runs/c.ts"]]);
});

test("finds a file that imports itself", () => {
  const file = { path: "src/runs/a.ts", text: 'import "./a.ts";' };
  expect(findCycles([file])).toEqual([["src/runs/a.ts"]]);
});
