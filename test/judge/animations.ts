import { readFile, writeFile } from "node:fs/promises";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { pngChunk } from "../inputs/png.ts";

/** An APNG of 64x64 pixels whose frames have these delays in hundredths of a second. */
export function apngWithDelays(delays: readonly number[]): Promise<string> {
  return keepClip("png", JSON.stringify(["apng delays", delays]), async (path) => {
    const drawn = ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=10", "-frames:v", String(delays.length)];
    const bytes = await readFile(await makeClip("png", [...drawn, "-f", "apng", "-plays", "0"]));
    const parts: Buffer[] = [bytes.subarray(0, 8)];
    for (let [at, frame] = [8, 0]; at + 12 <= bytes.length; ) {
      const name = bytes.toString("latin1", at + 4, at + 8);
      const body = bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at));
      if (name === "fcTL") {
        body.writeUInt16BE(delays[frame++] ?? 0, 20);
        body.writeUInt16BE(100, 22);
      }
      parts.push(pngChunk(name, body));
      at += 12 + body.length;
    }
    await writeFile(path, Buffer.concat(parts));
  });
}

/** A rectangle of one color of a GIF, shown for some hundredths of a second. */
export interface GifFrame {
  delay: number;
  /** Index in {@link GIF_COLORS}. */
  color: number;
  /** Side in pixels, from the top left corner; by default that of the whole picture. */
  side?: number;
  /** 1 leaves the frame, 2 removes it. */
  disposal?: 1 | 2;
}

/** The colors of {@link gifOf}. */
export const GIF_COLORS = [
  [0, 0, 0],
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
] as const;

/** The side of {@link gifOf} in pixels. */
export const GIF_SIDE = 32;

/** A GIF without a transparent color, in one LZW code per pixel; its palette has `colors` entries, of which frames use only the first. */
export function gifOf(frames: readonly GifFrame[], colors: 4 | 256 = 4): Promise<string> {
  const palette = Buffer.alloc(3 * colors);
  palette.set(GIF_COLORS.flat());
  const flags = 0xf0 | (Math.log2(colors) - 1);
  return keepClip("gif", JSON.stringify(["plain gif", colors, frames]), (path) =>
    writeFile(
      path,
      Buffer.concat([
        Buffer.from("GIF89a"),
        Buffer.from([GIF_SIDE, 0, GIF_SIDE, 0, flags, 0, 0]),
        palette,
        Buffer.from("\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0", "latin1"),
        ...frames.map(gifFrame),
        Buffer.from([0x3b]),
      ]),
    ),
  );
}

const [BITS, CLEAR, END] = [2, 4, 5] as const;

function gifFrame({ delay, color, side = GIF_SIDE, disposal = 1 }: GifFrame): Buffer {
  const head = [0x21, 0xf9, 4, disposal << 2, delay & 0xff, delay >> 8, 0, 0];
  const place = [0x2c, 0, 0, 0, 0, side, 0, side, 0, 0];
  // A code of three bits for each pixel; clearing the table every other pixel keeps that length.
  const codes = Array.from({ length: side * side }, (_, at) => (at % 2 ? [color] : [CLEAR, color])).flat();
  const bits = [...codes, END].flatMap((code) => [code & 1, (code >> 1) & 1, code >> 2]);
  const bytes = Array.from({ length: Math.ceil(bits.length / 8) }, (_, at) =>
    bits.slice(8 * at, 8 * at + 8).reduce((sum, bit, place) => sum | (bit << place), 0),
  );
  const blocks: number[] = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const block = bytes.slice(at, at + 255);
    blocks.push(block.length, ...block);
  }
  return Buffer.from([...head, ...place, BITS, ...blocks, 0]);
}
