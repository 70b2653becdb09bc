import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { encodeChunk } from "../ffmpeg/native-encode.ts";
import { farthestFrom } from "../judge/exact-color.ts";
import { type TiffShape, writeTiff } from "../judge/tiff.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { probeFile } from "./probe-file.ts";

const folder = await mkdtemp(join(tmpdir(), "framewright-tiff-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const COLOR = [200, 30, 30] as const;
// Colors multiplied by 128/255 have half the steps.
const TOLERANCE = 3;
const INFRA_RED = 100;
const CMYK = [55, 225, 225, 0];
const RGB = { photometric: 2, bits: 8, samples: COLOR } as const;

async function write(name: string, shape: TiffShape): Promise<string> {
  const path = join(folder, `${name.replaceAll(/\W/g, "-")}.tiff`);
  await writeFile(path, writeTiff(shape));
  return path;
}

const RIGHT: { name: string; shape: TiffShape }[] = [
  { name: "RGB", shape: RGB },
  { name: "16-bit RGB", shape: { ...RGB, bits: 16 } },
  { name: "planar RGB", shape: { ...RGB, planar: true } },
  { name: "planar 16-bit RGB", shape: { ...RGB, bits: 16, planar: true } },
  { name: "RGB with alpha", shape: { ...RGB, samples: [...COLOR, 255], extra: 2 } },
  { name: "RGB multiplied by alpha", shape: { ...RGB, samples: [100, 15, 15, 128], extra: 1 } },
  { name: "CMYK", shape: { photometric: 5, bits: 8, samples: CMYK } },
];

test.for(RIGHT)("decodes a TIFF of $name to its colors", async ({ name, shape }) => {
  const path = await write(name, shape);
  const { source } = await probeFile(path);
  const plan = createPlan(source, "image", { format: "png" });
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("There is no chunk.");
  const output = await encodeChunk(path, source, plan, chunk);
  expect(await farthestFrom(output.path, COLOR)).toBeLessThanOrEqual(TOLERANCE);
});

const TILES = "The TIFF stores its pixels in tiles, which are not supported; save it otherwise.";
const SEPARATED = "The TIFF stores planar or 16-bit CMYK, which is not supported; save it otherwise.";
const EXTRA =
  "The TIFF stores extra samples that are not transparency of gray, RGB or CMYK, such as infrared, which are not supported; save it otherwise.";
const BIT_ORDER =
  "The TIFF stores the bits of its bytes in reverse order (FillOrder 2), which is not supported; save it otherwise.";

const SAMPLES =
  "The TIFF stores samples that are signed, floating-point or of more than 16 bits, which are not supported; save it otherwise.";
const COMPRESSION =
  "The TIFF stores its pixels compressed in a way that is not supported, such as JPEG or Zstandard; save it otherwise.";
const COLORS =
  "The TIFF stores colors other than gray, RGB, YCbCr, CMYK or a palette, such as CIE L*a*b*, which are not supported; save it otherwise.";

const WRONG: { name: string; shape: TiffShape; layout: string; message: string }[] = [
  { name: "floats", shape: { ...RGB, bits: 32, format: 3 }, layout: "samples", message: SAMPLES },
  {
    name: "gray floats",
    shape: { photometric: 1, bits: 32, format: 3, samples: [77] },
    layout: "samples",
    message: SAMPLES,
  },
  { name: "32 bits", shape: { ...RGB, bits: 32 }, layout: "samples", message: SAMPLES },
  { name: "samples with signs", shape: { ...RGB, bits: 16, format: 2 }, layout: "samples", message: SAMPLES },
  { name: "JPEG", shape: { ...RGB, compression: 7 }, layout: "compression", message: COMPRESSION },
  { name: "L*a*b*", shape: { ...RGB, photometric: 8 }, layout: "colors", message: COLORS },
  { name: "tiles", shape: { ...RGB, tiles: true }, layout: "tiles", message: TILES },
  {
    name: "planar 16-bit tiles",
    shape: { ...RGB, bits: 16, planar: true, tiles: true },
    layout: "tiles",
    message: TILES,
  },
  {
    name: "16-bit CMYK",
    shape: { photometric: 5, bits: 16, samples: CMYK },
    layout: "cmyk",
    message: SEPARATED,
  },
  {
    name: "planar CMYK",
    shape: { photometric: 5, bits: 8, samples: CMYK, planar: true },
    layout: "cmyk",
    message: SEPARATED,
  },
  { name: "reversed bits", shape: { ...RGB, reversed: true }, layout: "bit_order", message: BIT_ORDER },
  {
    name: "reversed bits in PackBits",
    shape: { ...RGB, reversed: true, compression: 32773 },
    layout: "bit_order",
    message: BIT_ORDER,
  },
  {
    name: "a palette with alpha",
    shape: { photometric: 3, bits: 8, samples: [7, 255], extra: 2 },
    layout: "extra_samples",
    message: EXTRA,
  },
  {
    name: "RGB with infra-red",
    shape: { ...RGB, samples: [...COLOR, INFRA_RED], extra: 0 },
    layout: "extra_samples",
    message: EXTRA,
  },
  {
    name: "16-bit gray with infra-red",
    shape: { photometric: 1, bits: 16, samples: [77, INFRA_RED], extra: 0 },
    layout: "extra_samples",
    message: EXTRA,
  },
];

test.for(WRONG)(
  "refuses a TIFF of $name, which ffmpeg misreads",
  async ({ name, shape, layout, message }) => {
    await expect(probeFile(await write(name, shape))).rejects.toMatchObject({
      kind: "input_unsupported",
      message,
      reason: { code: "tiff_layout", layout },
    });
  },
);
