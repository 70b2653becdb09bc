import { expect, test } from "vitest";
import { isFresh, isSameVersion, parseRange } from "../../../worker/media/transfer.ts";

test.each([
  ["bytes=0-0", 10, { start: 0, end: 1 }],
  ["bytes=0-9", 10, { start: 0, end: 10 }],
  ["bytes=0-99", 10, { start: 0, end: 10 }],
  ["bytes=3-", 10, { start: 3, end: 10 }],
  ["bytes=9-", 10, { start: 9, end: 10 }],
  ["bytes=-1", 10, { start: 9, end: 10 }],
  ["bytes=-99", 10, { start: 0, end: 10 }],
  ["Bytes=2-4", 10, { start: 2, end: 5 }],
  ["bytes= 2-4 ", 10, { start: 2, end: 5 }],
  ["bytes=5-99999999999999999999999", 10, { start: 5, end: 10 }],
  ["bytes=10-", 10, "unsatisfiable"],
  ["bytes=10-20", 10, "unsatisfiable"],
  ["bytes=99999999999999999999999-", 10, "unsatisfiable"],
  ["bytes=-0", 10, "unsatisfiable"],
  ["bytes=0-", 0, "unsatisfiable"],
  ["bytes=-5", 0, "unsatisfiable"],
  [undefined, 10, null],
  ["", 10, null],
  ["bytes=", 10, null],
  ["bytes=-", 10, null],
  ["bytes=a-b", 10, null],
  ["bytes=5-2", 10, null],
  ["bytes=0-1,3-4", 10, null],
  ["bytes=1", 10, null],
  ["bytes=--1", 10, null],
  ["bytes=1.5-3", 10, null],
  ["items=0-1", 10, null],
])("parses the range %j of %i bytes", (header, size, range) => {
  expect(parseRange(header, size)).toEqual(range);
});

test.each([
  [undefined, false],
  ["", false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", "a"', true],
  ["*", true],
  ['"b"', false],
  ["a", false],
])("a client that holds %j is up to date: %s", (ifNoneMatch, fresh) => {
  expect(isFresh(ifNoneMatch, '"a"')).toBe(fresh);
});

test.each([
  [undefined, true],
  ['"a"', true],
  ['"b"', false],
  ['W/"a"', false],
  ["Fri, 20 Nov 2026 09:30:15 GMT", false],
  ["x", false],
])("a range may be sent under If-Range %j: %s", (ifRange, same) => {
  expect(isSameVersion(ifRange, '"a"')).toBe(same);
});
