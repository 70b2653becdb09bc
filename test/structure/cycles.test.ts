import { expect, test } from "vitest";
import { findCircles } from "./circles.ts";
import { readSources } from "./source-files.ts";

test("no file imports itself by way of others, types included", () => {
  expect(findCircles(readSources("src", "worker", "web"))).toEqual([]);
});

test.for([
  ['import type { B } from "./b.ts";', 'import { C } from "./c.ts";', 'import { A } from "./a.ts";'],
  ['export * from "./b.ts";', 'const c = import("./c.ts");', 'type A = import("./a.ts").A;'],
])("a circle of three files is found: %s", (texts) => {
  const files = texts.map((text, n) => ({ path: `src/core/${"abc"[n]}.ts`, text }));
  const other = { path: "src/core/d.ts", text: 'import "./a.ts";' };
  expect(findCircles([other, ...files])).toEqual([["src/core/a.ts", "src/core/b.ts", "src/core/c.ts"]]);
});

test("a file that imports itself is a circle", () => {
  const file = { path: "src/core/a.ts", text: 'import "./a.ts";' };
  expect(findCircles([file])).toEqual([["src/core/a.ts"]]);
});
