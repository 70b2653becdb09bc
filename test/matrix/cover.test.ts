import { expect, test } from "vitest";
import { FORMATS } from "../../src/media/formats.ts";
import { parseOptions } from "../core/parse-options.ts";
import {
  allCells,
  axesOf,
  type Cell,
  forbids,
  forbidsAxes,
  MATRIX_KINDS,
  optionsOf,
  pairCells,
  rateCells,
  TABLES,
} from "./cells.ts";
import { coverPairs, type Dimensions, type Forbids, type Row, wholeProduct } from "./pairs.ts";
import { pickPart } from "./part.ts";

const LETTERS = { a: [1, 2, 3], b: ["x", "y", null], c: [1, 2, 3], d: [null, "z"] } as const;
// Forbids 1 with x. Implies that 2 cannot stand with y: 2 needs z, and y excludes z.
const strict: Forbids<Dimensions> = ({ a, b, d }) =>
  (a === 1 && b === "x") || (a === 2 && d === null) || (b === "y" && d === "z");
const free = () => false;

// Every pair of values in any row, as text. Pairs are collected as numbers, because a product has 200,000 rows.
function pairsIn(rows: Iterable<Row<Dimensions>>): Set<string> {
  const values: string[] = [];
  const ids = new Map<string, number>();
  const idOf = (value: string) => {
    const id = ids.get(value) ?? values.push(value) - 1;
    ids.set(value, id);
    return id;
  };
  const pairs = new Set<number>();
  for (const row of rows) {
    const own = Object.entries(row).map(([name, value]) => idOf(`${name} ${value}`));
    for (const [index, one] of own.entries())
      for (let at = index + 1; at < own.length; at++) pairs.add(one * 1000 + (own[at] ?? 0));
  }
  return new Set([...pairs].map((pair) => `${values[Math.floor(pair / 1000)]} ${values[pair % 1000]}`));
}

/** Yields rows with the axes of their position, and the dimensions in this order. */
function* withAxes(rows: Iterable<Row<Dimensions>>, names: readonly string[]): Generator<Row<Dimensions>> {
  for (const row of rows) {
    const side = (sides: RegExp) =>
      row.position == null ? null : (sides.exec(String(row.position))?.[0] ?? "middle");
    const all: Row<Dimensions> = { ...row, across: side(/left|right/), down: side(/top|bottom/) };
    yield Object.fromEntries(names.map((name) => [name, all[name] ?? null]));
  }
}

test.for([
  { name: "free", rule: free, count: 54 },
  { name: "with constraints", rule: strict, count: 30 },
] as const)("wholeProduct yields all rows of a table, $name", ({ rule, count }) => {
  const rows = [...wholeProduct<Dimensions>(LETTERS, rule)];
  expect(rows).toHaveLength(count);
  expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(count);
  for (const row of rows) expect(rule(row)).toBe(false);
});

test.for([
  { name: "free", rule: free, most: 12 },
  { name: "with constraints", rule: strict, most: 12 },
] as const)("coverPairs covers every pair with few rows, $name", ({ rule, most }) => {
  const rows = coverPairs<Dimensions>(LETTERS, rule);
  expect(pairsIn(rows)).toEqual(pairsIn(wholeProduct<Dimensions>(LETTERS, rule)));
  for (const row of rows) expect(rule(row)).toBe(false);
  expect(rows.length).toBeLessThanOrEqual(most);
  expect(rows).toEqual(coverPairs<Dimensions>(LETTERS, rule));
});

test.each(MATRIX_KINDS)(
  "rows of %s cover every pair of the whole product, and their options are valid",
  (kind) => {
    const table = axesOf(kind);
    const rows = coverPairs(table, forbidsAxes);
    const product = wholeProduct<Dimensions>(TABLES[kind], forbids as Forbids<Dimensions>);
    expect(pairsIn(rows)).toEqual(pairsIn(withAxes(product, Object.keys(table))));
    const [first = 0, second = 0] = Object.values(table)
      .map((values) => values.length)
      .sort((a, b) => b - a);
    expect(rows.length).toBeLessThan(first * second * 1.5);
    for (const cell of pairCells(kind)) expect(() => parseOptions(kind, optionsOf(cell))).not.toThrow();
  },
);

test.each(MATRIX_KINDS)("the cells of %s have every value of every option", (kind) => {
  const cells = pairCells(kind);
  for (const [name, values] of Object.entries(TABLES[kind])) {
    if (name === "output") continue;
    expect([name, new Set(cells.map((cell) => cell[name as keyof Cell]))]).toEqual([name, new Set(values)]);
  }
});

test("the cells pair every output with every engine that supports it", () => {
  const keysOf = (kind: Cell["kind"], cells: Iterable<Cell>) =>
    new Set([...cells].map(({ format, codec, engine }) => [kind, format, codec, engine].join(" ")));
  const light = (output: string) => !/h265|av1|avif/.test(output);
  for (const kind of MATRIX_KINDS) {
    // Further formats of streams only list the same segments differently.
    const formats = kind === "adaptive_video" ? { hls: FORMATS[kind].hls } : FORMATS[kind];
    const outputs = Object.entries(formats).flatMap(([format, facts]: [string, object]) =>
      "codecs" in facts && kind === "video"
        ? (facts.codecs as string[]).map((codec) => `${kind} ${format} ${codec}`)
        : [`${kind} ${format} `],
    );
    const expected = outputs.flatMap((output) => [
      ...(light(output) ? [`${output} light`] : []),
      `${output} native`,
    ]);
    expect([...keysOf(kind, pairCells(kind))].sort()).toEqual(expected.sort());
    if (kind === "video") expect([...keysOf(kind, rateCells())].sort()).toEqual(expected.sort());
  }
});

test("the parts of the product add up to the whole", () => {
  const cells = [...allCells("audio")].map(({ name }) => name);
  expect(pickPart(cells, "full")).toEqual(cells);
  const parts = [1, 2, 3, 4, 5, 6, 7].flatMap((number) => pickPart(cells, `${number}/7`));
  expect(parts.toSorted()).toEqual(cells.toSorted());
  for (const wrong of ["", "half", "0/7", "8/7", "1/0"])
    expect(() => pickPart(cells, wrong)).toThrow(/3\/200/);
});
