import { expect, test } from "vitest";
import { FORMATS } from "../../src/media/formats.ts";
import { parseOptions } from "../core/parse-options.ts";
import {
  allCells,
  type Cell,
  facetsOf,
  forbids,
  MATRIX_KINDS,
  optionsOf,
  pairCells,
  rateCells,
  TABLES,
} from "./cells.ts";
import { coverPairs, type Dimensions, type Forbids, type Row, thinRows, wholeProduct } from "./pairs.ts";
import { pickPart } from "./part.ts";

const LETTERS = { a: [1, 2, 3], b: ["x", "y", null], c: [1, 2, 3], d: [null, "z"] } as const;
// Forbids 1 with x. Implies that 2 cannot stand with y: 2 needs z, and y excludes z.
const strict: Forbids<Dimensions> = ({ a, b, d }) =>
  (a === 1 && b === "x") || (a === 2 && d === null) || (b === "y" && d === "z");
const free = () => false;

// Every pair of values in any row, as text.
function pairsIn(rows: Iterable<Row<Dimensions>>): Set<string> {
  const pairs = new Set<string>();
  for (const row of rows) {
    const values = Object.entries(row).map((entry) => JSON.stringify(entry));
    for (const [index, one] of values.entries()) {
      for (const other of values.slice(index + 1)) pairs.add(`${one} ${other}`);
    }
  }
  return pairs;
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
    const table: Dimensions = TABLES[kind];
    const rule = forbids as Forbids<Dimensions>;
    const rows = coverPairs(table, rule);
    expect(pairsIn(rows)).toEqual(pairsIn(wholeProduct(table, rule)));
    const [first = 0, second = 0] = Object.values(table)
      .map((values) => values.length)
      .sort((a, b) => b - a);
    expect(rows.length).toBeLessThan(first * second * 1.5);
    for (const cell of pairCells(kind)) expect(() => parseOptions(kind, optionsOf(cell))).not.toThrow();
  },
);

test.each(MATRIX_KINDS)("thinRows drops rows of %s whose pairs of facets other rows cover", (kind) => {
  const rows = coverPairs<Dimensions>(TABLES[kind], forbids as Forbids<Dimensions>);
  const twos = (some: Row<Dimensions>[]) =>
    new Set(some.map(facetsOf).flatMap((all) => all.flatMap((one) => all.map((other) => `${one} ${other}`))));
  const thinned = thinRows(rows, facetsOf);
  expect(twos(thinned)).toEqual(twos(rows));
  expect(rows).toEqual(expect.arrayContaining(thinned));
  expect(pairCells(kind)).toHaveLength(thinned.length);
  if (kind !== "audio") expect(thinned.length).toBeLessThan(rows.length * 0.75);
});

test("the rows cover every value of every table", () => {
  for (const kind of MATRIX_KINDS) {
    const rows = thinRows(coverPairs<Dimensions>(TABLES[kind], forbids as Forbids<Dimensions>), facetsOf);
    for (const [name, values] of Object.entries(TABLES[kind])) {
      expect([kind, name, new Set(rows.map((row) => row[name]))]).toEqual([kind, name, new Set(values)]);
    }
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
