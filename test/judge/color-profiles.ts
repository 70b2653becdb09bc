import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { constants, deflateRawSync, deflateSync } from "node:zlib";
import sharp, { type Sharp } from "sharp";
import { clip } from "../fixtures/clips.ts";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { pngChunk } from "../inputs/png.ts";
import { colorDistance, type Picture, parsePam, readPicture } from "./picture.ts";

const run = promisify(execFile);

type Triple = readonly [number, number, number];

const fixed = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(Math.round(value * 65_536));
  return bytes;
};
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const xyz = (values: Triple) => Buffer.concat([Buffer.from("XYZ \0\0\0\0"), ...values.map(fixed)]);
const gamma = (value: number) =>
  Buffer.concat([Buffer.from("curv\0\0\0\0"), u32(1), u16(Math.round(value * 256)), u16(0)]);
const table = (count: number, light: (value: number) => number) =>
  Buffer.concat([
    Buffer.from("curv\0\0\0\0"),
    u32(count),
    ...Array.from({ length: count }, (_, at) => u16(Math.round(65_535 * light(at / (count - 1))))),
  ]);
const parametric = (type: number, ...values: number[]) =>
  Buffer.concat([Buffer.from("para\0\0\0\0"), u16(type), u16(0), ...values.map(fixed)]);

const WHITE: Triple = [0.9642, 1, 0.8249];

/** Returns an ICC profile of these tags (ICC.1:2022, 7). */
export function iccOf(
  space: "RGB " | "GRAY" | "CMYK",
  tags: Readonly<Record<string, Buffer>>,
  pcs = "XYZ ",
): Buffer {
  const entries = Object.entries({ wtpt: xyz(WHITE), ...tags });
  const head = Buffer.alloc(128);
  head.writeUInt32BE(0x04200000, 8);
  head.write(`mntr${space}${pcs}`, 12);
  head.write("acsp", 36);
  Buffer.concat(WHITE.map(fixed)).copy(head, 68);
  let offset = head.length + 4 + 12 * entries.length;
  const list: Buffer[] = [u32(entries.length)];
  const data: Buffer[] = [];
  for (const [name, tag] of entries) {
    const padded = Buffer.concat([tag, Buffer.alloc(-tag.length & 3)]);
    list.push(Buffer.from(name), u32(offset), u32(tag.length));
    data.push(padded);
    offset += padded.length;
  }
  const profile = Buffer.concat([head, ...list, ...data]);
  profile.writeUInt32BE(profile.length, 0);
  return profile;
}

// Colorants in XYZ under D50.
const COLORANTS = {
  srgb: [
    [0.4361, 0.2225, 0.0139],
    [0.3851, 0.7169, 0.0971],
    [0.1431, 0.0606, 0.7141],
  ],
  p3: [
    [0.5151, 0.2412, -0.0011],
    [0.292, 0.6922, 0.0419],
    [0.1571, 0.0666, 0.7841],
  ],
  adobe: [
    [0.60974, 0.31111, 0.01947],
    [0.20528, 0.62567, 0.06087],
    [0.14919, 0.06322, 0.74457],
  ],
  prophoto: [
    [0.7977, 0.288, 0],
    [0.1352, 0.7119, 0],
    [0.0313, 0.0001, 0.8249],
  ],
} as const satisfies Record<string, readonly Triple[]>;

function rgb([red, green, blue]: readonly [Triple, Triple, Triple], curve: Buffer): Buffer {
  return iccOf("RGB ", {
    ...{ rXYZ: xyz(red), gXYZ: xyz(green), bXYZ: xyz(blue) },
    ...{ rTRC: curve, gTRC: curve, bTRC: curve },
  });
}

const SRGB_CURVE = parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045);
const [RED, GREEN, BLUE] = COLORANTS.srgb;

/** Profiles with each form of curve, and with primaries that are wider than sRGB's or swapped. */
export const PROFILES = {
  "Display P3": rgb(COLORANTS.p3, SRGB_CURVE),
  "Adobe RGB": rgb(COLORANTS.adobe, gamma(563 / 256)),
  ProPhoto: rgb(COLORANTS.prophoto, gamma(1.8)),
  "red and blue exchanged": rgb([BLUE, GREEN, RED], SRGB_CURVE),
  "a measured curve": rgb(
    COLORANTS.adobe,
    table(256, (value) => value * value * (3 - 2 * value)),
  ),
} as const;
export type ProfileName = keyof typeof PROFILES;

const SIDE = 17;

/** Display P3 as a 16-bit lookup table to Lab (ICC.1:2022, 10.10), under the tag of a rendering intent. */
export function tableProfile(tag: "A2B0" | "A2B1" | "A2B2" = "A2B0"): Buffer {
  const head = Buffer.alloc(52);
  head.write("mft2");
  head.set([3, 3, SIDE], 8);
  for (const at of [12, 28, 44]) head.writeInt32BE(65_536, at);
  head.writeUInt16BE(2, 48);
  head.writeUInt16BE(2, 50);
  const straight = Buffer.concat(Array.from({ length: 3 }, () => Buffer.from([0, 0, 255, 255])));
  const grid = Array.from({ length: SIDE ** 3 }, (_, at) => {
    const parts = [Math.floor(at / SIDE ** 2), Math.floor(at / SIDE) % SIDE, at % SIDE];
    const [lightness = 0, a = 0, b = 0] = labOf(parts.map((part) => part / (SIDE - 1)));
    const values = [(lightness * 65_280) / 100, (a + 128) * 256, (b + 128) * 256];
    return Buffer.concat(values.map((value) => u16(Math.round(Math.min(65_535, Math.max(0, value))))));
  });
  return iccOf("RGB ", { [tag]: Buffer.concat([head, straight, ...grid, straight]) }, "Lab ");
}

function labOf(color: readonly number[]): number[] {
  const light = color.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  const [x = 0, y = 0, z = 0] = [0, 1, 2].map((row) => {
    const sum = COLORANTS.p3.reduce(
      (all, colorant, part) => all + colorant[row as 0] * (light[part] ?? 0),
      0,
    );
    const share = sum / (WHITE[row] ?? 1);
    return share > (6 / 29) ** 3 ? Math.cbrt(share) : share / (3 * (6 / 29) ** 2) + 4 / 29;
  });
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** sRGB itself, as a table and as a function. */
export const SRGB_PROFILES = [
  rgb(
    COLORANTS.srgb,
    table(1024, (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)),
  ),
  rgb(COLORANTS.srgb, SRGB_CURVE),
];

/** The sRGB colors of each picture's quarters, row by row; all profiles can represent them. */
export const PATCHES: readonly Triple[] = [
  [200, 60, 50],
  [60, 160, 80],
  [40, 70, 190],
  [128, 128, 128],
];
const [WIDTH, HEIGHT] = [160, 120];

type Writer = (picture: Sharp) => Sharp;
const WRITERS = {
  jpeg: (picture) => picture.jpeg({ quality: 98, chromaSubsampling: "4:4:4" }),
  png: (picture) => picture.png(),
  webp: (picture) => picture.webp({ quality: 98, smartSubsample: true }),
  "lossless webp": (picture) => picture.webp({ lossless: true }),
  tiff: (picture) => picture.tiff({ compression: "none" }),
  avif: (picture) => picture.avif({ quality: 90, chromaSubsampling: "4:4:4", effort: 2 }),
} as const satisfies Record<string, Writer>;
type WriterName = keyof typeof WRITERS;

/** Writes the patches in a profile's colors, converted by lcms, with the profile embedded. */
export async function writePatches(format: WriterName, icc: Buffer, alpha = 255): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "framewright-icc-"));
  try {
    const path = join(folder, "own.icc");
    await writeFile(path, icc);
    const pixels = Buffer.alloc(WIDTH * HEIGHT * 4);
    for (let at = 0; at < WIDTH * HEIGHT; at++) {
      const [x, y] = [at % WIDTH, Math.floor(at / WIDTH)];
      const patch = PATCHES[(y < HEIGHT / 2 ? 0 : 2) + (x < WIDTH / 2 ? 0 : 1)] ?? [0, 0, 0];
      pixels.set([...patch, alpha], 4 * at);
    }
    const raw = sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 4 } });
    const own = (alpha === 255 ? raw.removeAlpha() : raw).withIccProfile(path);
    return await WRITERS[format](own).toBuffer();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// Pixels in a profile's colors, without the profile.
async function bare(icc: Buffer): Promise<Buffer> {
  const png = await writePatches("png", icc);
  const pixels = await sharp(png).keepIccProfile().raw().toBuffer();
  return sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
    .png()
    .toBuffer();
}

const insert = (png: Buffer, ...chunks: Buffer[]) =>
  Buffer.concat([png.subarray(0, 33), ...chunks, png.subarray(33)]);
const bareClip = (icc: Buffer) =>
  keepClip("png", `bare ${icc.toString("hex")}`, async (path) => writeFile(path, await bare(icc)));

/** A JPEG whose profile spans segments (ICC.1:2022, B.4), with pixels in an equivalent profile's colors. */
export async function jpegInParts(icc: Buffer, same = icc, length = 200): Promise<Buffer> {
  const jpeg = await readFile(
    await makeClip("jpg", ["-i", await bareClip(same), "-q:v", "1", "-pix_fmt", "yuvj444p"]),
  );
  const count = Math.ceil(icc.length / length);
  const segments = Array.from({ length: count }, (_, at) => {
    const body = icc.subarray(at * length, at * length + length);
    const name = Buffer.from(`ICC_PROFILE\0${String.fromCharCode(at + 1, count)}`, "latin1");
    return Buffer.concat([Buffer.from([0xff, 0xe2]), u16(2 + name.length + body.length), name, body]);
  });
  return Buffer.concat([jpeg.subarray(0, 2), ...segments, jpeg.subarray(2)]);
}

/** A JPEG whose XMP data announces a gain map. */
export async function jpegWithGainMap(): Promise<Buffer> {
  const jpeg = await readFile(await clip("jpeg"));
  const text = 'http://ns.adobe.com/xap/1.0/\0<x xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"/>';
  const head = Buffer.from([0xff, 0xe1, 0, 2 + text.length]);
  return Buffer.concat([jpeg.subarray(0, 2), head, Buffer.from(text, "latin1"), jpeg.subarray(2)]);
}

/** A GIF with its profile in an application extension. */
export async function gifWithProfile(icc: Buffer): Promise<Buffer> {
  const gif = await readFile(
    await makeClip("gif", [
      "-i",
      await bareClip(icc),
      "-vf",
      "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=none",
    ]),
  );
  const parts: Buffer[] = [];
  for (let at = 0; at < icc.length; at += 255) {
    const part = icc.subarray(at, at + 255);
    parts.push(Buffer.from([part.length]), part);
  }
  const extension = [Buffer.from("\x21\xff\x0bICCRGBG1012", "latin1"), ...parts, Buffer.from([0])];
  const start = 13 + ((gif[10] ?? 0) & 0x80 ? 3 * 2 ** (((gif[10] ?? 0) & 7) + 1) : 0);
  return Buffer.concat([gif.subarray(0, start), ...extension, gif.subarray(start)]);
}

/** A PNG that states its colors by code points (W3C PNG, third edition, 11.3.2.6). */
export const pngWithCodePoints = async () =>
  insert(await bare(PROFILES["Display P3"]), pngChunk("cICP", Buffer.from([12, 13, 0, 1])));

/** A PNG that states its colors by primaries and gamma (11.3.2.1 and 11.3.2.2). */
export async function pngWithPrimaries(): Promise<Buffer> {
  const points = [0.3127, 0.329, 0.64, 0.33, 0.21, 0.71, 0.15, 0.06];
  const chrm = Buffer.concat(points.map((value) => u32(Math.round(value * 100_000))));
  const gama = u32(Math.round((100_000 * 256) / 563));
  return insert(await bare(PROFILES["Adobe RGB"]), pngChunk("cHRM", chrm), pngChunk("gAMA", gama));
}

/** A PNG that states a gamma and no primaries. */
export async function pngWithGamma(): Promise<Buffer> {
  const gama = u32(Math.round((100_000 * 256) / 461));
  return insert(await bare(rgb(COLORANTS.srgb, gamma(461 / 256))), pngChunk("gAMA", gama));
}

/** Adds a damaged color profile to a PNG: its data is not compressed, as the format requires. */
export function withDamagedProfile(png: Buffer): Buffer {
  return insert(png, pngChunk("iCCP", Buffer.from("icc\0\0these bytes are not compressed", "latin1")));
}

/** A PNG in sRGB whose profile is not compressed as it should be. */
export async function pngWithDamagedProfile(): Promise<Buffer> {
  return withDamagedProfile(await bare(rgb(COLORANTS.srgb, SRGB_CURVE)));
}

/** An sRGB PNG of one megabyte whose text expands to one gigabyte. */
export async function pngWithEndlessText(): Promise<Buffer> {
  const png = await bare(rgb(COLORANTS.srgb, SRGB_CURVE));
  const zeros = deflateRawSync(Buffer.alloc(1 << 20), { finishFlush: constants.Z_FULL_FLUSH });
  const text = Buffer.concat([Buffer.from("Comment\0\0\x78\x9c", "latin1"), ...Array(1024).fill(zeros)]);
  return insert(png, pngChunk("zTXt", text));
}

/** A second of an APNG with a profile. */
export async function apngWithProfile(icc: Buffer): Promise<Buffer> {
  const still = await bareClip(icc);
  const apng = await readFile(
    await makeClip("apng", [
      "-loop",
      "1",
      "-framerate",
      "5",
      "-t",
      "1",
      "-i",
      still,
      "-vf",
      "noise=alls=1:allf=t",
      "-plays",
      "0",
    ]),
  );
  const body = Buffer.concat([Buffer.from("own\0\0", "latin1"), deflateSync(icc)]);
  return insert(apng, pngChunk("iCCP", body));
}

/** Three fifths of a second of an animated WebP with a profile, whose frames have none. */
export async function webpInMotion(icc: Buffer): Promise<Buffer> {
  const still = await bareClip(icc);
  const path = await keepClip("webp", `in motion ${still}`, async (output) => {
    const [frame, profile, muxed] = ["frame", "icc", "muxed"].map((name) => `${output}.${name}`) as [
      string,
      string,
      string,
    ];
    await run("cwebp", ["-quiet", "-lossless", still, "-o", frame]);
    await writeFile(profile, icc);
    const frames = ["+200+0+0+0-b", "+300+0+0+0-b", "+100+0+0+0-b"].flatMap((place) => [
      "-frame",
      frame,
      place,
    ]);
    await run("webpmux", [...frames, "-loop", "0", "-o", muxed]);
    await run("webpmux", ["-set", "icc", profile, muxed, "-o", output]);
    await Promise.all([frame, profile, muxed].map((path) => rm(path)));
  });
  return readFile(path);
}

/** A gray JPEG of one value with a gamma profile, and the sRGB gray that it shows. */
export async function grayJpeg(value: number, power: number): Promise<{ jpeg: Buffer; shown: number }> {
  const raw = { width: 32, height: 32, channels: 1 } as const;
  const gray = sharp(Buffer.alloc(32 * 32, value), { raw }).toColourspace("b-w");
  const jpeg = await gray.jpeg({ quality: 98 }).toBuffer();
  const icc = iccOf("GRAY", { kTRC: gamma(power) });
  const name = Buffer.from("ICC_PROFILE\0\x01\x01", "latin1");
  const segment = Buffer.concat([Buffer.from([0xff, 0xe2]), u16(2 + name.length + icc.length), name, icc]);
  const light = (value / 255) ** power;
  const shown = 255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);
  return { jpeg: Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]), shown };
}

/** Returns the largest difference, of 255, between a patch of a file's first picture and its color in a color-managed viewer. */
export async function worstPatch(path: string): Promise<number> {
  const { width, at } = await shownPicture(path);
  const height = (width * HEIGHT) / WIDTH;
  const [left, right] = [Math.round(width / 4), Math.round((3 * width) / 4)];
  const [top, bottom] = [Math.round(height / 4), Math.round((3 * height) / 4)];
  const points = [
    [left, top],
    [right, top],
    [left, bottom],
    [right, bottom],
  ] as const;
  return Math.max(
    ...points.map(([x, y], index) => colorDistance(at(x, y), [...(PATCHES[index] ?? WHITE), 255])),
  );
}

async function shownPicture(path: string): Promise<Picture> {
  const stored = sharp(path);
  const isPicture = await stored.metadata().then(
    () => true,
    () => false,
  );
  if (!isPicture) return readPicture(path, { filter: "scale=flags=accurate_rnd+full_chroma_int" });
  const shown = stored.toColourspace("srgb").ensureAlpha().raw();
  const { data, info } = await shown.toBuffer({ resolveWithObject: true });
  const header = `WIDTH ${info.width}\nHEIGHT ${info.height}\nENDHDR\n`;
  return parsePam(Buffer.concat([Buffer.from(header), data]));
}
