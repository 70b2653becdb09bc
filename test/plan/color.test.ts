import { expect, test } from "vitest";
import { parseColor } from "../../src/media/fields.ts";

test.for([
  ["#1e90ff", "0x1e90ff", "0x1e90ff"],
  ["1E90FF", "0x1e90ff", "0x1e90ff"],
  ["#fff", "0xffffff", "0xffffff"],
  ["#f008", "0xff000088", "0x880000"],
  ["#ff000080", "0xff000080", "0x800000"],
  ["#12345600", "0x12345600", "0x000000"],
  ["#123456ff", "0x123456", "0x123456"],
] as const)("parses %s as %s, or as %s without alpha", ([hex, kept, opaque]) => {
  expect([parseColor(hex, true), parseColor(hex, false)]).toEqual([kept, opaque]);
});
