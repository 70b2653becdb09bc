import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { reportOf } from "../../src/encoders/light/light-probe.ts";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { readHeaderFacts } from "../../src/probe/picture-header.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";

const size = { width: 160, height: 90 };
const IMAGES: [ClipName, object][] = [
  ["jpeg", { format_name: "jpeg_pipe", codec_name: "mjpeg", ...size, frames: 1, pix_fmt: "yuvj420p" }],
  ["png", { format_name: "png_pipe", codec_name: "png", ...size, frames: 1, pix_fmt: "rgb24" }],
  ["png_alpha", { format_name: "png_pipe", codec_name: "png", ...size, frames: 1, pix_fmt: "rgba" }],
  [
    "png_odd",
    { format_name: "png_pipe", codec_name: "png", width: 161, height: 91, frames: 1, pix_fmt: "rgb24" },
  ],
  ["png_animated", { format_name: "apng", codec_name: "apng", ...size, frames: 50, pix_fmt: "rgb24" }],
  ["gif", { format_name: "gif", codec_name: "gif", ...size, pix_fmt: "bgra" }],
  ["gif_animated", { format_name: "gif", codec_name: "gif", ...size, frames: 2, pix_fmt: "bgra" }],
  ["webp", { format_name: "webp_pipe", codec_name: "webp", ...size, frames: 1 }],
  ["webp_animated", { format_name: "webp_pipe", codec_name: "webp", ...size, frames: 50 }],
  ["bmp", { format_name: "bmp_pipe", codec_name: "bmp", ...size, frames: 1 }],
  ["avif", { format_name: "avif", codec_name: "av1", ...size, frames: 1 }],
];

test.for(IMAGES)("reads the facts in the header of %s", async ([name, facts]) => {
  expect(readHeaderFacts(await readFile(await clip(name)))).toMatchObject(facts);
});

test.for<ClipName>(["mp4", "webm", "mp3", "wav", "avi", "mpegts"])(
  "leaves the header of %s to ffprobe",
  async (name) => {
    expect(readHeaderFacts(await readFile(await clip(name)))).toBeNull();
  },
);

test.for(IMAGES)(
  "reads nothing from a %s cut off in its header, and its size from then on",
  async ([name]) => {
    const file = await readFile(await clip(name));
    const whole = readHeaderFacts(file);
    const { width, height, frames = 0, format_name, codec_name } = whole ?? {};
    let least: number | null = null;
    for (let length = 0; length <= Math.min(file.length, 1024); length++) {
      const facts = readHeaderFacts(file.subarray(0, length));
      if (facts === null) expect([length, least]).toEqual([length, null]);
      else {
        least ??= length;
        expect(facts).toMatchObject({ width, height });
        // An animation looks like a still until more of its header is there.
        if (facts.frames === frames) expect(facts).toMatchObject({ format_name, codec_name });
        else expect(facts.frames).toBeLessThan(frames);
      }
    }
    // No format has its size in fewer bytes.
    expect(least).toBeGreaterThanOrEqual(10);
  },
);

const box = (kind: string, ...parts: Uint8Array[]) => {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(kind, 4, "latin1");
  return Buffer.concat([head, body]);
};
const ispe = (width: number, height: number) => {
  const body = Buffer.alloc(12);
  body.writeUInt32BE(width, 4);
  body.writeUInt32BE(height, 8);
  return box("ispe", body);
};
const heif = (brand: string, ...meta: Uint8Array[]) =>
  Buffer.concat([
    box("ftyp", Buffer.from(`${brand}\0\0\0\0mif1${brand}`, "latin1")),
    box("meta", Buffer.alloc(4), ...meta),
  ]);

test("reads the size of the whole picture, not of its tiles", () => {
  const file = heif("heic", box("iprp", box("ipco", ispe(512, 512), ispe(4032, 3024), ispe(320, 240))));
  expect(readHeaderFacts(file)).toMatchObject({
    format_name: "heic",
    codec_name: "hevc",
    width: 4032,
    height: 3024,
  });
});

// A photo as a telephone writes it: tiles 1 and 2, the grid of them as item 49 with its own size and turn, and a larger auxiliary picture.
const photo = (brand: string, quarters: number, wide: boolean) => {
  const tile = [0, 1, 1, 0x81];
  const grid = wide ? [0, 49, 3, 0x80, 2, 0x80, 3, 0, 4] : [0, 49, 3, 0x82, 0x83, 4];
  const tiles = wide ? [...[0, 1, 1, 0x80, 1], ...[0, 2, 1, 0x80, 1]] : [...tile, 0, 2, 1, 0x81];
  const ipma = Buffer.from([0, 0, 0, wide ? 1 : 0, 0, 0, 0, 3, ...tiles, ...grid]);
  const irot = box("irot", Buffer.from([quarters]));
  const ipco = box("ipco", ispe(512, 512), ispe(4032, 3024), irot, box("pixi"), ispe(5000, 5000));
  return heif(brand, box("pitm", Buffer.from([0, 0, 0, 0, 0, 49])), box("iprp", ipco, box("ipma", ipma)));
};

test.for([false, true])("reads the size and the turn of a photograph's primary item (wide: %s)", (wide) => {
  const heic = { format_name: "heic", codec_name: "hevc" };
  // A decoder of HEIC turns the picture itself.
  expect(readHeaderFacts(photo("heic", 0, wide))).toEqual({ ...heic, width: 4032, height: 3024, frames: 1 });
  expect(readHeaderFacts(photo("heic", 2, wide))).toEqual({ ...heic, width: 4032, height: 3024, frames: 1 });
  expect(readHeaderFacts(photo("heic", 3, wide))).toEqual({ ...heic, width: 3024, height: 4032, frames: 1 });
  // ffmpeg does not turn an AVIF; quarters count anticlockwise.
  const avif = { format_name: "avif", codec_name: "av1", width: 4032, height: 3024, frames: 1 };
  expect(readHeaderFacts(photo("avif", 0, wide))).toEqual(avif);
  expect(readHeaderFacts(photo("avif", 1, wide))).toEqual({ ...avif, rotation: 270 });
  expect(readHeaderFacts(photo("avif", 3, wide))).toEqual({ ...avif, rotation: 90 });
});

// av1C: 10 bits, 4:2:0; 12 bits, 4:4:4; 8 bits without color. hvcC: 4:2:2 of 10 bits.
const av1C = (flags: number) => box("av1C", Buffer.from([0x81, 0, flags, 0]));
const hvcC = box("hvcC", Buffer.from([1, ...Array.from({ length: 15 }, () => 0), 0xfe, 0xfa, 0]));
const ALPHA = box("auxC", Buffer.from("\0\0\0\0urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0", "latin1"));

test.for([
  { brand: "avif", boxes: [av1C(0x4c)], pix_fmt: "yuv420p10le" },
  { brand: "avif", boxes: [av1C(0x60)], pix_fmt: "yuv444p12le" },
  { brand: "avif", boxes: [av1C(0x1c)], pix_fmt: "gray" },
  { brand: "avif", boxes: [av1C(0x4c), ALPHA], pix_fmt: "yuva420p10le" },
  { brand: "heic", boxes: [hvcC], pix_fmt: "yuv422p10le" },
] as const)(
  "reads the pixel format of $brand from its decoder's configuration",
  ({ brand, boxes, pix_fmt }) => {
    const file = heif(brand, box("iprp", box("ipco", ispe(64, 48), ...boxes)));
    expect(readHeaderFacts(file)).toMatchObject({ width: 64, height: 48, pix_fmt });
  },
);

test("an AVIF's turn becomes that of its Source", () => {
  const facts = readHeaderFacts(photo("avif", 3, false));
  if (!facts) throw new Error("no facts");
  const source = parseFfprobe(reportOf(facts, 1000), { url: "https://example.com/a.avif", filesize: 1000 });
  expect(source).toMatchObject({
    format: "avif",
    width: 3024,
    height: 4032,
    rotation: 90,
    coded_width: 4032,
  });
});

test("a cut header of a photograph has its facts or none", () => {
  const file = photo("avif", 3, false);
  const whole = readHeaderFacts(file);
  for (let length = 0; length < file.length; length++)
    expect([null, whole]).toContainEqual(readHeaderFacts(file.subarray(0, length)));
});
