import { expect, test } from "vitest";
import { readTransparency } from "../../src/probe/transparency.ts";
import { bytesReader } from "./probe-file.ts";

const signal = new AbortController().signal;

// One pixel of a picture with a transparent color; its LZW data states `least` bits per color.
function gifOf(least: number): Buffer {
  return Buffer.concat([
    Buffer.from("GIF89a"),
    Buffer.from([1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
    Buffer.from([0x21, 0xf9, 4, 1, 0, 0, 0, 0]),
    Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0]),
    Buffer.from([least, 2, 0x4c, 0x01, 0, 0x3b]),
  ]);
}

test.for([12, 60, 255])("a GIF with LZW codes of %d bits may be transparent", async (least) => {
  const source = { format: "gif", pixel_format: "bgra" } as Parameters<typeof readTransparency>[0];
  expect(await readTransparency(source, bytesReader(gifOf(least)), signal)).toEqual({ has_alpha: true });
});

test("a GIF with codes of 2 bits that does not use its transparent color is opaque", async () => {
  const source = { format: "gif", pixel_format: "bgra" } as Parameters<typeof readTransparency>[0];
  expect(await readTransparency(source, bytesReader(gifOf(2)), signal)).toEqual({ has_alpha: false });
});
