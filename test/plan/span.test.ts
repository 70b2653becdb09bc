import { expect, test } from "vitest";
import { createSpan } from "../../src/media/timeline.ts";
import { faultOf } from "./source.ts";

test.for([
  [{}, 10, { start: 0, end: null, duration: 10 }],
  [{ start: 0, end: 10 }, 10, { start: 0, end: null, duration: 10 }],
  [{ start: 2 }, 10, { start: 2, end: null, duration: 8 }],
  [{ end: 4 }, 10, { start: 0, end: 4, duration: 4 }],
  [{ start: 2, end: 4.5 }, 10, { start: 2, end: 4.5, duration: 2.5 }],
  [{ start: 9.999, end: 99 }, 10, { start: 9.999, end: null, duration: 10 - 9.999 }],
  [{ start: 5 }, undefined, { start: 5, end: null, duration: null }],
  [{ start: 5, end: 7 }, undefined, { start: 5, end: 7, duration: 2 }],
  [{ start: 5, end: 7 }, 0, { start: 5, end: 7, duration: 2 }],
] as const)("resolves %o on %s seconds to %o", ([options, duration, span]) => {
  expect(createSpan(options, duration)).toEqual(span);
});

test.for([10, 10.5, 1e7])("rejects a start of %s in 10 seconds", (start) => {
  const fault = faultOf(() => createSpan({ start }, 10));
  expect(fault).toMatchObject({ kind: "invalid_options", param: "options.start" });
  expect(fault.message).toBe(`options.start (${start}) must be before the end of the source (10 s).`);
});
