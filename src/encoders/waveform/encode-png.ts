import { zlibSync } from "fflate";
import { concatBytes } from "../../util/bytes.ts";
import { PNG_SIGNATURE, pngChunk, u32 } from "../images/png.ts";

/** A picture of two colors, one bit a pixel. */
export interface TwoColors {
  width: number;
  height: number;
  /** Colors of a clear and of a set bit, `0xRRGGBB` or `0xRRGGBBAA`. */
  colors: readonly [string, string];
  /** Lines of pixels, each after the byte of its filter. */
  lines: Uint8Array;
}

const PALETTE = 3;

/** Encodes a picture as PNG (ISO/IEC 15948); the same picture always has the same bytes, which `CompressionStream` does not promise. */
export function encodePng({ width, height, colors, lines }: TwoColors): Uint8Array<ArrayBuffer> {
  const parts = colors.map((color) => {
    const digits = color.slice(2).padEnd(8, "f");
    return [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  });
  return concatBytes([
    PNG_SIGNATURE,
    pngChunk("IHDR", u32(width), u32(height), Uint8Array.of(1, PALETTE, 0, 0, 0)),
    pngChunk("PLTE", Uint8Array.from(parts.flatMap((part) => part.slice(0, 3)))),
    pngChunk("tRNS", Uint8Array.from(parts.map(([, , , alpha = 255]) => alpha))),
    pngChunk("IDAT", zlibSync(lines, { level: 9 })),
    pngChunk("IEND"),
  ]);
}
