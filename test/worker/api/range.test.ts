import { expect, test } from "vitest";
import { isFresh, isSameVersion, parseRange } from "../../../worker/media/transfer.ts";

test.each([
  { header: "bytes=0-0", size: 10, range: { start: 0, end: 1 } },
  { header: "bytes=0-9", size: 10, range: { start: 0, end: 10 } },
  { header: "bytes=0-99", size: 10, range: { start: 0, end: 10 } },
  { header: "bytes=3-", size: 10, range: { start: 3, end: 10 } },
  { header: "bytes=9-", size: 10, range: { start: 9, end: 10 } },
  { header: "bytes=-1", size: 10, range: { start: 9, end: 10 } },
  { header: "bytes=-99", size: 10, range: { start: 0, end: 10 } },
  { header: "Bytes=2-4", size: 10, range: { start: 2, end: 5 } },
  { header: "bytes= 2-4 ", size: 10, range: { start: 2, end: 5 } },
  { header: "bytes=5-99999999999999999999999", size: 10, range: { start: 5, end: 10 } },
  { header: "bytes=10-", size: 10, range: "unsatisfiable" },
  { header: "bytes=10-20", size: 10, range: "unsatisfiable" },
  { header: "bytes=99999999999999999999999-", size: 10, range: "unsatisfiable" },
  { header: "bytes=-0", size: 10, range: "unsatisfiable" },
  { header: "bytes=0-", size: 0, range: "unsatisfiable" },
  { header: "bytes=-5", size: 0, range: "unsatisfiable" },
  { header: undefined, size: 10, range: null },
  { header: "", size: 10, range: null },
  { header: "bytes=", size: 10, range: null },
  { header: "bytes=-", size: 10, range: null },
  { header: "bytes=a-b", size: 10, range: null },
  { header: "bytes=5-2", size: 10, range: null },
  { header: "bytes=0-1,3-4", size: 10, range: null },
  { header: "bytes=1", size: 10, range: null },
  { header: "bytes=--1", size: 10, range: null },
  { header: "bytes=1.5-3", size: 10, range: null },
  { header: "items=0-1", size: 10, range: null },
])("parses the range $header of $size bytes", ({ header, size, range }) => {
  expect(parseRange(header, size)).toEqual(range);
});

test.each([
  { ifNoneMatch: undefined, fresh: false },
  { ifNoneMatch: "", fresh: false },
  { ifNoneMatch: '"a"', fresh: true },
  { ifNoneMatch: 'W/"a"', fresh: true },
  { ifNoneMatch: '"b", "a"', fresh: true },
  { ifNoneMatch: "*", fresh: true },
  { ifNoneMatch: '"b"', fresh: false },
  { ifNoneMatch: "a", fresh: false },
])("a client that holds $ifNoneMatch is up to date: $fresh", ({ ifNoneMatch, fresh }) => {
  expect(isFresh(ifNoneMatch, '"a"')).toBe(fresh);
});

test.each([
  { ifRange: undefined, same: true },
  { ifRange: '"a"', same: true },
  { ifRange: '"b"', same: false },
  { ifRange: 'W/"a"', same: false },
  { ifRange: "Fri, 20 Nov 2026 09:30:15 GMT", same: false },
  { ifRange: "x", same: false },
])("a range may be sent under If-Range $ifRange: $same", ({ ifRange, same }) => {
  expect(isSameVersion(ifRange, '"a"')).toBe(same);
});
