import { readFile, writeFile } from "node:fs/promises";
import { makeClip } from "../fixtures/make-clip.ts";
import { movingWebp } from "../fixtures/moving-webp.ts";
import { pngChunk } from "../inputs/png.ts";
import { quadrantClip, quadrantPng, withOrientation } from "./clips.ts";

/** The orientations of EXIF, whose meaning as ffmpeg's filters is in `ORIENTATIONS`. */
export const ALL_ORIENTATIONS = [1, 2, 3, 4, 5, 6, 7, 8] as const;
export type ExifOrientation = (typeof ALL_ORIENTATIONS)[number];

/** The clockwise degrees by which players turn each, and those that they then mirror, left to right. */
export const TURNS = { 1: 0, 2: 0, 3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270 } as const;
export const isMirrored = (orientation: ExifOrientation) => [2, 4, 5, 7].includes(orientation);

const PREFIX = Buffer.from("Exif\0\0", "latin1");

// EXIF data of one entry, big-endian.
function exifOf(orientation: ExifOrientation): Buffer {
  return Buffer.from(`4d4d002a0000000800010112000300000001000${orientation}000000000000`, "hex");
}

const pictureIn =
  (extension: string, ...more: string[]) =>
  async () =>
    readFile(await makeClip(extension, ["-i", await quadrantPng(), ...more]));

/** Writers of the quadrant picture with an EXIF orientation, by format. */
export const ORIENTED = {
  jpeg: async (orientation: ExifOrientation) => {
    const jpeg = await pictureIn("jpg", "-q:v", "2", "-pix_fmt", "yuvj444p")();
    return withOrientation(jpeg, orientation);
  },
  png: async (orientation: ExifOrientation) => {
    const png = await pictureIn("png")();
    return Buffer.concat([png.subarray(0, 33), pngChunk("eXIf", exifOf(orientation)), png.subarray(33)]);
  },
  "png with EXIF behind its pixels": async (orientation: ExifOrientation) => {
    const png = await pictureIn("png")();
    return Buffer.concat([png.subarray(0, -12), pngChunk("eXIf", exifOf(orientation)), png.subarray(-12)]);
  },
  webp: async (orientation: ExifOrientation) => withExif(await webp(), exifOf(orientation)),
  "webp with a prefix": async (orientation: ExifOrientation) =>
    withExif(await webp(), Buffer.concat([PREFIX, exifOf(orientation)])),
  tiff: async (orientation: ExifOrientation) => withTag(await pictureIn("tiff")(), orientation),
} as const;

export type OrientedFormat = keyof typeof ORIENTED;
export const ORIENTED_FORMATS = Object.keys(ORIENTED) as OrientedFormat[];

const webp = pictureIn("webp", "-c:v", "libwebp", "-quality", "95", "-pix_fmt", "yuv420p");

// RFC 9649: a header that announces EXIF data (8), the picture as it was, and the data.
function withExif(file: Buffer, exif: Buffer): Buffer {
  const header = Buffer.from([8, 0, 0, 0, 159, 0, 0, 95, 0, 0]);
  const body = Buffer.concat([riff("VP8X", header), file.subarray(12), riff("EXIF", exif)]);
  return riff("RIFF", Buffer.concat([Buffer.from("WEBP"), body]));
}

/** Writes an animated WebP with an EXIF orientation to a path. */
export async function writeOrientedAnimation(orientation: ExifOrientation, path: string): Promise<string> {
  const file = await readFile(await movingWebp());
  // The header that announces EXIF data is there, as in every animation.
  file[20] = (file[20] ?? 0) | 8;
  const body = Buffer.concat([file.subarray(8), riff("EXIF", exifOf(orientation))]);
  await writeFile(path, riff("RIFF", body));
  return path;
}

function riff(name: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([Buffer.from(name), length, body, Buffer.alloc(body.length % 2)]);
}

// TIFF 6.0: a copy of the directory behind the pixels, with the entry in its place.
function withTag(tiff: Buffer, orientation: ExifOrientation): Buffer {
  const start = tiff.readUInt32LE(4);
  const count = tiff.readUInt16LE(start);
  const entries = Array.from({ length: count }, (_, at) =>
    tiff.subarray(start + 2 + 12 * at, start + 14 + 12 * at),
  );
  const entry = Buffer.from(`1201030001000000${orientation.toString().padStart(2, "0")}000000`, "hex");
  const sorted = [...entries, entry].toSorted((one, other) => one.readUInt16LE(0) - other.readUInt16LE(0));
  const head = Buffer.alloc(2);
  head.writeUInt16LE(count + 1);
  const moved = Buffer.concat([tiff, Buffer.alloc(tiff.length % 2)]);
  moved.writeUInt32LE(moved.length, 4);
  return Buffer.concat([moved, head, ...sorted, Buffer.alloc(4)]);
}

/** The values a, b, c and d of the display matrix of each orientation. */
const MATRICES = {
  1: [1, 0, 0, 1],
  2: [-1, 0, 0, 1],
  3: [-1, 0, 0, -1],
  4: [1, 0, 0, -1],
  5: [0, 1, 1, 0],
  6: [0, 1, -1, 0],
  7: [0, -1, -1, 0],
  8: [0, -1, 1, 0],
} as const;

/** Writes the quadrant clip with a display matrix of an orientation, as a phone's camera does, to a path. */
export async function writeOrientedClip(orientation: ExifOrientation, path: string): Promise<string> {
  const file = await readFile(await quadrantClip());
  const tkhd = file.indexOf("tkhd");
  const [a, b, c, d] = MATRICES[orientation];
  // Version 0: the matrix follows 40 bytes of the box's content.
  const at = tkhd + 4 + 40;
  [a, b, 0, c, d, 0].forEach((value, index) => {
    file.writeInt32BE(value * 0x10000, at + 4 * index);
  });
  const shift = { x: a + c < 0 ? 160 : 0, y: b + d < 0 ? 96 : 0 };
  file.writeInt32BE(shift.x * 0x10000, at + 24);
  file.writeInt32BE(shift.y * 0x10000, at + 28);
  await writeFile(path, file);
  return path;
}
