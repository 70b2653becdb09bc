import { expect, test } from "vitest";
import type { GeometryOptions } from "../../src/media/features/geometry.ts";
import { POSITIONS, type Position } from "../../src/media/formats.ts";
import { createGeometry, type StoredPicture } from "../../src/media/picture-geometry.ts";
import type { Geometry } from "../../src/media/plan.ts";

const VIDEO = { even: true, alpha: false };
const PNG = { even: false, alpha: true };
const JPEG = { even: false, alpha: false };
const plain = (width: number, height: number): StoredPicture => ({
  width,
  height,
  pixel_aspect: 1,
  rotate: 0,
});
const HD = plain(1920, 1080);
const none = { rotate: 0, crop: null, scale: null, pad: null } as const;

interface Row {
  name: string;
  stored: StoredPicture;
  options: GeometryOptions;
  rules: typeof VIDEO;
  expected: Partial<Geometry>;
}

const bars = (width: number, height: number, x: number, y: number, color: string) => ({
  pad: { width, height, x, y, color },
});

const ROWS: Row[] = [
  {
    name: "no options",
    stored: HD,
    options: {},
    rules: VIDEO,
    expected: { ...none, width: 1920, height: 1080 },
  },
  {
    name: "the source's own size",
    stored: HD,
    options: { width: 1920, height: "100%" },
    rules: VIDEO,
    expected: { ...none, width: 1920, height: 1080 },
  },
  {
    name: "one side scales both",
    stored: HD,
    options: { width: 640 },
    rules: VIDEO,
    expected: { ...none, scale: { width: 640, height: 360 }, width: 640, height: 360 },
  },
  {
    name: "an odd source rounds to even for video",
    stored: plain(161, 91),
    options: {},
    rules: VIDEO,
    expected: { ...none, scale: { width: 160, height: 90 }, width: 160, height: 90 },
  },
  {
    name: "an odd source stays odd for an image",
    stored: plain(161, 91),
    options: {},
    rules: PNG,
    expected: { ...none, width: 161, height: 91 },
  },
  {
    name: "both sides stretch without a fit",
    stored: HD,
    options: { width: 500, height: 500 },
    rules: VIDEO,
    expected: { ...none, scale: { width: 500, height: 500 }, width: 500, height: 500 },
  },
  {
    name: "a background means contain",
    stored: HD,
    options: { width: 500, height: 500, background: "#fff" },
    rules: VIDEO,
    expected: {
      ...none,
      scale: { width: 500, height: 282 },
      ...bars(500, 500, 0, 108, "0xffffff"),
      width: 500,
      height: 500,
    },
  },
  {
    name: "contain adds bars at the sides",
    stored: HD,
    options: { width: 800, height: 360, fit: "contain" },
    rules: VIDEO,
    expected: { scale: { width: 640, height: 360 }, ...bars(800, 360, 80, 0, "0x000000"), crop: null },
  },
  {
    name: "contain splits an odd gap in an image",
    stored: plain(100, 50),
    options: { width: 71, height: 50, fit: "contain" },
    rules: JPEG,
    expected: { scale: { width: 71, height: 36 }, ...bars(71, 50, 0, 7, "0x000000") },
  },
  {
    name: "contain adds transparent bars",
    stored: plain(100, 50),
    options: { width: 100, height: 100, fit: "contain" },
    rules: PNG,
    expected: { scale: null, ...bars(100, 100, 0, 25, "0x00000000") },
  },
  {
    name: "contain adds translucent bars",
    stored: plain(100, 50),
    options: { width: 100, height: 100, background: "#ff000080" },
    rules: PNG,
    expected: { ...bars(100, 100, 0, 25, "0xff000080") },
  },
  {
    name: "contain blends translucent bars with black without alpha",
    stored: plain(100, 50),
    options: { width: 100, height: 100, background: "#ff000080" },
    rules: JPEG,
    expected: { ...bars(100, 100, 0, 25, "0x800000") },
  },
  {
    name: "contain of the same shape adds no bars",
    stored: HD,
    options: { width: 1280, height: 720, fit: "contain" },
    rules: VIDEO,
    expected: { scale: { width: 1280, height: 720 }, pad: null },
  },
  {
    name: "contain leaves no hairline bars",
    stored: plain(854, 480),
    options: { width: 640, height: 360, fit: "contain" },
    rules: VIDEO,
    expected: { scale: { width: 640, height: 360 }, pad: null },
  },
  {
    name: "contain of a sliver keeps a pixel",
    stored: plain(10_000, 10),
    options: { width: 100, height: 100, fit: "contain" },
    rules: JPEG,
    expected: { scale: { width: 100, height: 1 }, ...bars(100, 100, 0, 49, "0x000000") },
  },
  {
    name: "cover crops the sides",
    stored: HD,
    options: { width: 720, height: 720, fit: "cover" },
    rules: VIDEO,
    expected: {
      crop: { x: 420, y: 0, width: 1080, height: 1080 },
      scale: { width: 720, height: 720 },
      pad: null,
    },
  },
  {
    name: "cover crops top and bottom",
    stored: HD,
    options: { width: 1920, height: 540, fit: "cover" },
    rules: VIDEO,
    expected: { crop: { x: 0, y: 270, width: 1920, height: 540 }, scale: null },
  },
  {
    name: "cover of the same shape crops nothing",
    stored: HD,
    options: { width: 960, height: 540, fit: "cover" },
    rules: VIDEO,
    expected: { crop: null, scale: { width: 960, height: 540 } },
  },
  {
    name: "cover of a sliver keeps a pixel",
    stored: plain(10_000, 10),
    options: { width: 1, height: 1000, fit: "cover" },
    rules: JPEG,
    expected: { crop: { x: 4999, y: 0, width: 1, height: 10 }, scale: { width: 1, height: 1000 } },
  },
  {
    name: "a rotated source swaps its sides",
    stored: { ...HD, rotate: 90 },
    options: {},
    rules: VIDEO,
    expected: { ...none, rotate: 90, width: 1080, height: 1920 },
  },
  {
    name: "percentages of a rotated source count displayed pixels",
    stored: { ...HD, rotate: 270 },
    options: { width: "50%" },
    rules: VIDEO,
    expected: { rotate: 270, scale: { width: 540, height: 960 } },
  },
  {
    name: "cover of a rotated source crops the displayed picture",
    stored: { ...HD, rotate: 90 },
    options: { width: 540, height: 540, fit: "cover", position: "bottom" },
    rules: VIDEO,
    expected: { rotate: 90, crop: { x: 0, y: 840, width: 1080, height: 1080 } },
  },
  {
    name: "wide pixels become square",
    stored: { width: 720, height: 576, pixel_aspect: 64 / 45, rotate: 0 },
    options: {},
    rules: VIDEO,
    expected: { ...none, scale: { width: 1024, height: 576 }, width: 1024, height: 576 },
  },
  {
    name: "tall pixels become square",
    stored: { width: 720, height: 480, pixel_aspect: 8 / 9, rotate: 0 },
    options: {},
    rules: VIDEO,
    expected: { ...none, scale: { width: 720, height: 540 }, width: 720, height: 540 },
  },
  {
    name: "wide pixels at their stored size become square",
    stored: { width: 720, height: 576, pixel_aspect: 64 / 45, rotate: 0 },
    options: { width: 720, height: 576 },
    rules: VIDEO,
    expected: { ...none, scale: { width: 720, height: 576 } },
  },
  {
    name: "cover of wide pixels crops stored ones",
    stored: { width: 720, height: 576, pixel_aspect: 64 / 45, rotate: 0 },
    options: { width: 576, height: 576, fit: "cover", position: "right" },
    rules: VIDEO,
    expected: { crop: { x: 315, y: 0, width: 405, height: 576 }, scale: { width: 576, height: 576 } },
  },
  {
    name: "wide pixels of a rotated source become square",
    stored: { width: 720, height: 576, pixel_aspect: 64 / 45, rotate: 90 },
    options: { width: 288 },
    rules: VIDEO,
    expected: { rotate: 90, scale: { width: 288, height: 512 }, width: 288, height: 512 },
  },
];

test.for(ROWS)("$name", ({ stored, options, rules, expected }) => {
  expect(createGeometry(stored, options, rules)).toMatchObject(expected);
});

// 1920×1080 into 800×800: contain makes a picture of 800×450 with 350 spare pixels vertically; cover crops 1080×1080 with
// 840 spare pixels horizontally, or vertically for an upright source.
const SPARE: Record<Position, readonly [contain: number, left: number, top: number]> = {
  center: [174, 420, 420],
  top: [0, 420, 0],
  bottom: [350, 420, 840],
  left: [174, 0, 420],
  right: [174, 840, 420],
  "top-left": [0, 0, 0],
  "top-right": [0, 840, 0],
  "bottom-left": [350, 0, 840],
  "bottom-right": [350, 840, 840],
};

test.for(POSITIONS)("places contain and cover by position %s", (position) => {
  const [padTop, cropLeft, cropTop] = SPARE[position];
  const box = { width: 800, height: 800, position };
  const contain = createGeometry(HD, { ...box, fit: "contain" }, VIDEO);
  expect(contain.pad).toMatchObject({ x: 0, y: padTop });
  const cover = createGeometry(HD, { ...box, fit: "cover" }, VIDEO);
  expect(cover.crop).toMatchObject({ x: cropLeft, y: 0 });
  const upright = createGeometry(plain(1080, 1920), { ...box, fit: "cover" }, VIDEO);
  expect(upright.crop).toMatchObject({ x: 0, y: cropTop });
});
