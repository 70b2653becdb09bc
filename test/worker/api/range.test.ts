import { expect, test } from "vitest";
import { isFresh, isSameVersion, parseRange } from "../../../worker/media/range.ts";

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
])("the range %j of %i bytes", (header, size, range) => {
  expect(parseRange(header, size)).toEqual(range);
});

const held = { ifNoneMatch: undefined, ifModifiedSince: undefined, ifRange: undefined };
const MODIFIED = Date.UTC(2026, 10, 20, 9, 30, 15) + 400;
const DATE = "Fri, 20 Nov 2026 09:30:15 GMT";
const LATER = "Fri, 20 Nov 2026 09:30:16 GMT";
const EARLIER = "Fri, 20 Nov 2026 09:30:14 GMT";

test.each([
  [{}, false],
  [{ ifNoneMatch: '"a"' }, true],
  [{ ifNoneMatch: 'W/"a"' }, true],
  [{ ifNoneMatch: '"b", "a"' }, true],
  [{ ifNoneMatch: "*" }, true],
  [{ ifNoneMatch: '"b"' }, false],
  [{ ifNoneMatch: "a" }, false],
  [{ ifModifiedSince: DATE }, true],
  [{ ifModifiedSince: LATER }, true],
  [{ ifModifiedSince: EARLIER }, false],
  [{ ifModifiedSince: "yesterday" }, false],
  [{ ifNoneMatch: '"b"', ifModifiedSince: LATER }, false],
])("a client that holds %o is up to date: %s", (given, fresh) => {
  expect(isFresh({ ...held, ...given }, '"a"', MODIFIED)).toBe(fresh);
});

test("without a date of the object only the tag counts", () => {
  expect(isFresh({ ...held, ifModifiedSince: LATER }, '"a"', undefined)).toBe(false);
  expect(isSameVersion({ ...held, ifRange: DATE }, '"a"', undefined)).toBe(false);
});

test.each([
  [undefined, true],
  ['"a"', true],
  [DATE, true],
  ['"b"', false],
  ['W/"a"', false],
  [LATER, false],
  [EARLIER, false],
  ["x", false],
])("a range under If-Range %j may be sent: %s", (ifRange, same) => {
  expect(isSameVersion({ ...held, ifRange }, '"a"', MODIFIED)).toBe(same);
});
