import { expect, test } from "vitest";
import { createSpan } from "../../src/media/timeline.ts";
import { faultOf } from "./source.ts";

test.for([
  { options: {}, duration: 10, span: { start: 0, end: null, duration: 10 } },
  { options: { start: 0, end: 10 }, duration: 10, span: { start: 0, end: null, duration: 10 } },
  { options: { start: 2 }, duration: 10, span: { start: 2, end: null, duration: 8 } },
  { options: { end: 4 }, duration: 10, span: { start: 0, end: 4, duration: 4 } },
  { options: { start: 2, end: 4.5 }, duration: 10, span: { start: 2, end: 4.5, duration: 2.5 } },
  {
    options: { start: 9.999, end: 99 },
    duration: 10,
    span: { start: 9.999, end: null, duration: 10 - 9.999 },
  },
  { options: { start: 5 }, duration: undefined, span: { start: 5, end: null, duration: null } },
  { options: { start: 5, end: 7 }, duration: undefined, span: { start: 5, end: 7, duration: 2 } },
  { options: { start: 5, end: 7 }, duration: 0, span: { start: 5, end: 7, duration: 2 } },
] as const)("resolves $options on $duration seconds to $span", ({ options, duration, span }) => {
  expect(createSpan(options, duration)).toEqual(span);
});

test.for([10, 10.5, 1e7])("rejects a start of %s in 10 seconds", (start) => {
  const fault = faultOf(() => createSpan({ start }, 10));
  expect(fault).toMatchObject({ kind: "invalid_options", param: "options.start" });
  expect(fault.message).toBe(`options.start (${start}) must be before the end of the source (10 s).`);
});
