import { expect, test } from "vitest";
import { createPagedFile, PageMiss, rangeAfterMiss } from "../../src/encoders/wasm/core-files.ts";

const bytes = (from: number, to: number) => Uint8Array.from({ length: to - from }, (_, n) => from + n);
const page = (start: number, end: number) => ({ start, bytes: bytes(start, end) });

test("a read within one page returns a view without copying", () => {
  const only = page(0, 100);
  const file = createPagedFile(100, [only]);
  expect(file.read(20, 30)).toEqual(bytes(20, 30));
  expect(file.read(20, 30).buffer).toBe(only.bytes.buffer);
  expect(file.held).toBe(100);
});

test("a read across pages joins them in any order, even if they overlap", () => {
  const file = createPagedFile(100, [page(50, 80), page(0, 30), page(25, 50)]);
  expect(file.read(10, 70)).toEqual(bytes(10, 70));
  expect(file.read(0, 80)).toEqual(bytes(0, 80));
});

test.for([
  [30, 40, 30],
  [20, 40, 30],
  [45, 70, 60],
  [90, 100, 90],
])("a read from %d to %d reports the first missing byte: %d", ([start, end, missing]) => {
  const file = createPagedFile(100, [page(0, 30), page(40, 60)]);
  const read = () => file.read(start ?? 0, end ?? 0);
  expect(read).toThrow(PageMiss);
  expect(read).toThrow(expect.objectContaining({ offset: missing }));
});

const KB = 1024;
const FILE = 10_000;
const AHEAD = { first: 100 * KB, growth: 4, least: 50 * KB, most: 1000 * KB, total: 1500 * KB };

test.for<[string, number, [number, number][], [number, number] | null]>([
  ["loads a little after a jump", 5000, [[0, 100]], [5000, 5100]],
  ["loads four times as much on sequential reads", 100, [[0, 100]], [100, 500]],
  [
    "grows with the whole contiguous range before the miss",
    300,
    [
      [0, 50],
      [100, 300],
      [50, 100],
    ],
    [300, 1300],
  ],
  ["loads no more than the maximum", 400, [[0, 400]], [400, 1400]],
  ["loads no less than the minimum", 10, [[0, 10]], [10, 60]],
  ["stops at the end of the file", 9900, [[9800, 9900]], [9900, 10_000]],
  [
    "stops at the next loaded range",
    100,
    [
      [0, 100],
      [200, 300],
    ],
    [100, 200],
  ],
  [
    "stops at the total",
    1400,
    [
      [0, 400],
      [400, 1400],
    ],
    [1400, 1500],
  ],
  ["loads nothing beyond the total", 5000, [[0, 1500]], null],
])("%s", ([, offset, loaded, wanted]) => {
  const range = ([start, end]: [number, number]) => ({ start: start * KB, end: end * KB });
  expect(rangeAfterMiss(offset * KB, FILE * KB, loaded.map(range), AHEAD)).toEqual(wanted && range(wanted));
});
