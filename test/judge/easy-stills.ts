import { readFile, writeFile } from "node:fs/promises";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { quadrantPng } from "./clips.ts";

const from = (extension: string, ...more: string[]) =>
  (async () => makeClip(extension, ["-i", await quadrantPng(), "-frames:v", "1", ...more]))();

// Truevision TGA 2.0: bits 4 and 5 of the descriptor say that the first pixel is at the right, and at the top.
async function targaFrom(corner: "left" | "right", edge: "bottom" | "top"): Promise<string> {
  const plain = await from("tga", "-pix_fmt", "bgr24", "-rle", "0");
  return keepClip("tga", `${corner} ${edge} of ${plain}`, async (path) => {
    const file = await readFile(plain);
    const [width, height] = [file.readUInt16LE(12), file.readUInt16LE(14)];
    const start = 18 + file.readUInt8(0);
    const wasTop = (file.readUInt8(17) & 0x20) !== 0;
    const pixel = (x: number, y: number) => {
      const at = start + 3 * ((wasTop ? y : height - 1 - y) * width + x);
      return file.subarray(at, at + 3);
    };
    const rows = Array.from({ length: height }, (_, y) =>
      Array.from({ length: width }, (__, x) =>
        pixel(corner === "right" ? width - 1 - x : x, edge === "top" ? y : height - 1 - y),
      ),
    );
    const head = Buffer.from(file.subarray(0, start));
    head.writeUInt8((corner === "right" ? 0x10 : 0) | (edge === "top" ? 0x20 : 0), 17);
    await writeFile(path, Buffer.concat([head, ...rows.flat()]));
  });
}

/** A PPM of 16 bits whose header stands on one line, which ffmpeg mistakes for sound. */
async function deepPixmap(): Promise<string> {
  const plain = await from("ppm", "-pix_fmt", "rgb48be");
  return keepClip("ppm", `header of ${plain}`, async (path) => {
    const file = await readFile(plain);
    for (let [at, lines] = [0, 0]; lines < 2; at++) if (file[at] === 10 && ++lines) file[at] = 32;
    await writeFile(path, file);
  });
}

/** Makers of the quadrant picture in lossless formats that ffmpeg reads. */
export const EASY_STILLS = {
  tga: () => from("tga"),
  "tga from the bottom left": () => targaFrom("left", "bottom"),
  "tga from the top right": () => targaFrom("right", "top"),
  "tga from the bottom right": () => targaFrom("right", "bottom"),
  pam: () => from("pam", "-pix_fmt", "rgb24"),
  ppm: () => from("ppm"),
  "ppm of 16 bits": deepPixmap,
  pcx: () => from("pcx"),
  sgi: () => from("sgi"),
  qoi: () => from("qoi"),
  sunrast: () => from("ras"),
  jp2: () => from("jp2", "-pix_fmt", "rgb24", "-pred", "1"),
  fits: () => from("fits", "-pix_fmt", "gbrp"),
} as const;
