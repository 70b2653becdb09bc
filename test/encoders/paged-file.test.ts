import { expect, test } from "vitest";
import { createPagedFile, PageMiss, rangeAfterMiss } from "../../src/encoders/wasm/core-files.ts";

const bytes = (from: number, to: number) => Uint8Array.from({ length: to - from }, (_, n) => from + n);
const page = (start: number, end: number) => ({ start, bytes: bytes(start, end) });

test("a read within one page returns a view without copying", () => {
  const only = page(0, 100);
  const file = createPagedFile(100, [only]);
  expect(file.read(20, 30)).toEqual(bytes(20, 30));
  expect(file.read(20, 30).buffer).toBe(only.bytes.buffer);
  expect(file.loadedBytes).toBe(100);
});

test("a read across pages joins them in any order, even if they overlap", () => {
  const file = createPagedFile(100, [page(50, 80), page(0, 30), page(25, 50)]);
  expect(file.read(10, 70)).toEqual(bytes(10, 70));
  expect(file.read(0, 80)).toEqual(bytes(0, 80));
});

test.for([
  { start: 30, end: 40, missing: 30 },
  { start: 20, end: 40, missing: 30 },
  { start: 45, end: 70, missing: 60 },
  { start: 90, end: 100, missing: 90 },
])("a read from $start to $end reports the first missing byte: $missing", ({ start, end, missing }) => {
  const file = createPagedFile(100, [page(0, 30), page(40, 60)]);
  const read = () => file.read(start ?? 0, end ?? 0);
  expect(read).toThrow(PageMiss);
  expect(read).toThrow(expect.objectContaining({ offset: missing }));
});

const KB = 1024;
const FILE = 10_000;
const AHEAD = { first: 100 * KB, growth: 4, min: 50 * KB, max: 1000 * KB, total: 1500 * KB };

test.for<{ name: string; offset: number; loaded: [number, number][]; expected: [number, number] | null }>([
  { name: "loads a little after a jump", offset: 5000, loaded: [[0, 100]], expected: [5000, 5100] },
  {
    name: "loads four times as much on sequential reads",
    offset: 100,
    loaded: [[0, 100]],
    expected: [100, 500],
  },
  {
    name: "grows with the whole contiguous range before the miss",
    offset: 300,
    loaded: [
      [0, 50],
      [100, 300],
      [50, 100],
    ],
    expected: [300, 1300],
  },
  { name: "loads no more than the maximum", offset: 400, loaded: [[0, 400]], expected: [400, 1400] },
  { name: "loads no less than the minimum", offset: 10, loaded: [[0, 10]], expected: [10, 60] },
  { name: "stops at the end of the file", offset: 9900, loaded: [[9800, 9900]], expected: [9900, 10_000] },
  {
    name: "stops at the next loaded range",
    offset: 100,
    loaded: [
      [0, 100],
      [200, 300],
    ],
    expected: [100, 200],
  },
  {
    name: "stops at the total",
    offset: 1400,
    loaded: [
      [0, 400],
      [400, 1400],
    ],
    expected: [1400, 1500],
  },
  { name: "loads nothing beyond the total", offset: 5000, loaded: [[0, 1500]], expected: null },
])("$name", ({ offset, loaded, expected }) => {
  const range = ([start, end]: [number, number]) => ({ start: start * KB, end: end * KB });
  expect(rangeAfterMiss(offset * KB, FILE * KB, loaded.map(range), AHEAD)).toEqual(
    expected && range(expected),
  );
});
