import { expect, test } from "vitest";
import { parseColor } from "../../src/media/fields.ts";

test.for([
  { hex: "#1e90ff", kept: "0x1e90ff", opaque: "0x1e90ff" },
  { hex: "1E90FF", kept: "0x1e90ff", opaque: "0x1e90ff" },
  { hex: "#fff", kept: "0xffffff", opaque: "0xffffff" },
  { hex: "#f008", kept: "0xff000088", opaque: "0x880000" },
  { hex: "#ff000080", kept: "0xff000080", opaque: "0x800000" },
  { hex: "#12345600", kept: "0x12345600", opaque: "0x000000" },
  { hex: "#123456ff", kept: "0x123456", opaque: "0x123456" },
] as const)("parses $hex as $kept, or as $opaque without alpha", ({ hex, kept, opaque }) => {
  expect([parseColor(hex, true), parseColor(hex, false)]).toEqual([kept, opaque]);
});
