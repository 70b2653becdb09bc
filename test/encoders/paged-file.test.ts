import { expect, test } from "vitest";
import { createPagedFile, PageMiss, rangeAfterMiss } from "../../src/encoders/paged-file.ts";

const bytes = (from: number, to: number) => Uint8Array.from({ length: to - from }, (_, n) => from + n);
const page = (start: number, end: number) => ({ start, bytes: bytes(start, end) });

test("a read within one page gives a view of it, without a copy", () => {
  const only = page(0, 100);
  const file = createPagedFile(100, [only]);
  expect(file.read(20, 30)).toEqual(bytes(20, 30));
  expect(file.read(20, 30).buffer).toBe(only.bytes.buffer);
  expect(file.held).toBe(100);
});

test("a read across pages joins them, in whatever order they came and where they overlap", () => {
  const file = createPagedFile(100, [page(50, 80), page(0, 30), page(25, 50)]);
  expect(file.read(10, 70)).toEqual(bytes(10, 70));
  expect(file.read(0, 80)).toEqual(bytes(0, 80));
});

test.for([
  [30, 40, 30],
  [20, 40, 30],
  [45, 70, 60],
  [90, 100, 90],
])("a read from %d to %d names the first byte that is missing: %d", ([start, end, missing]) => {
  const file = createPagedFile(100, [page(0, 30), page(40, 60)]);
  const read = () => file.read(start ?? 0, end ?? 0);
  expect(read).toThrow(PageMiss);
  expect(read).toThrow(expect.objectContaining({ offset: missing }));
});

const AHEAD = { first: 10, most: 100, total: 150 };

test.for([
  ["a jump loads a little", 500, [{ start: 0, end: 10 }], { start: 500, end: 510 }],
  ["reading on loads four times as much", 10, [{ start: 0, end: 10 }], { start: 10, end: 50 }],
  [
    "and so on",
    50,
    [
      { start: 0, end: 10 },
      { start: 10, end: 50 },
    ],
    { start: 50, end: 150 },
  ],
  ["up to the end of the file", 990, [{ start: 950, end: 990 }], { start: 990, end: 1000 }],
  [
    "up to what is loaded",
    10,
    [
      { start: 0, end: 10 },
      { start: 20, end: 30 },
    ],
    { start: 10, end: 20 },
  ],
  ["nothing beyond the total", 100, [{ start: 0, end: 100 }], null],
] as const)("%s", ([, offset, loaded, wanted]) => {
  expect(rangeAfterMiss(offset, 1000, loaded, AHEAD)).toEqual(wanted);
});
