import { expect, test } from "vitest";
import { parseColor } from "../../src/media/fields.ts";

test.for([
  { hex: "#1e90ff", alpha: "0x1e90ff", opaque: "0x1e90ff" },
  { hex: "1E90FF", alpha: "0x1e90ff", opaque: "0x1e90ff" },
  { hex: "#fff", alpha: "0xffffff", opaque: "0xffffff" },
  { hex: "#f008", alpha: "0xff000088", opaque: "0x880000" },
  { hex: "#ff000080", alpha: "0xff000080", opaque: "0x800000" },
  { hex: "#12345600", alpha: "0x12345600", opaque: "0x000000" },
  { hex: "#123456ff", alpha: "0x123456", opaque: "0x123456" },
] as const)("parses $hex as $alpha with alpha, or as $opaque without", ({ hex, alpha, opaque }) => {
  expect([parseColor(hex, true), parseColor(hex, false)]).toEqual([alpha, opaque]);
});
