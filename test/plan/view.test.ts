import { expect, test } from "vitest";
import type { GeometryOptions } from "../../src/media/features/geometry.ts";
import { createGeometry, createView, type StoredPicture } from "../../src/media/picture-geometry.ts";
import { createLadder } from "../../src/media/rates.ts";

const stored = (more: Partial<StoredPicture> = {}): StoredPicture => ({
  ...{ width: 1920, height: 1080, pixel_aspect: 1, rotate: 0 },
  ...more,
});

const TURNED: [
  GeometryOptions,
  StoredPicture["rotate"],
  { rotate: number; turn: number; mirror: boolean },
][] = [
  [{}, 90, { rotate: 90, turn: 0, mirror: false }],
  [{ rotate: 90 }, 0, { rotate: 90, turn: 90, mirror: false }],
  [{ rotate: 270 }, 180, { rotate: 90, turn: 270, mirror: false }],
  [{ flip: "horizontal" }, 0, { rotate: 0, turn: 0, mirror: true }],
  [{ flip: "vertical" }, 0, { rotate: 180, turn: 180, mirror: true }],
  [{ flip: "both" }, 90, { rotate: 270, turn: 180, mirror: false }],
  [{ flip: "vertical", rotate: 90 }, 90, { rotate: 0, turn: 270, mirror: true }],
];

test.for(TURNED)("%j of a picture that players turn by %i", ([options, rotate, expected]) => {
  expect(createView(stored({ rotate }), options)).toMatchObject({ ...expected, crop: null });
});

test.for([
  [{}, 90, { rotate: 90, turn: 0, mirror: true }],
  [{ rotate: 90 }, 90, { rotate: 0, turn: 90, mirror: true }],
  [{ rotate: 90 }, 0, { rotate: 270, turn: 90, mirror: true }],
  [{ flip: "horizontal" }, 270, { rotate: 270, turn: 0, mirror: false }],
  [{ flip: "vertical", rotate: 90 }, 90, { rotate: 180, turn: 270, mirror: false }],
] satisfies typeof TURNED)(
  "%j of a picture that players turn by %i and mirror",
  ([options, rotate, expected]) => {
    expect(createView(stored({ rotate, mirror: true }), options)).toMatchObject({ ...expected, crop: null });
  },
);

const rect = (x: number, y: number, width: number, height: number) => ({ x, y, width, height });

const CROPPED: {
  options: GeometryOptions;
  more: Partial<StoredPicture>;
  expected: ReturnType<typeof rect> | null;
}[] = [
  { options: { crop: "1:1" }, more: {}, expected: rect(420, 0, 1080, 1080) },
  { options: { crop: "1:1", position: "right" }, more: {}, expected: rect(840, 0, 1080, 1080) },
  { options: { crop: "2.39:1" }, more: {}, expected: rect(0, 138, 1920, 803) },
  { options: { crop: "16:9" }, more: {}, expected: null },
  { options: { crop: "9:16" }, more: { rotate: 90 }, expected: null },
  { options: { crop: "16:9", position: "bottom" }, more: { rotate: 90 }, expected: rect(0, 1312, 1080, 608) },
  { options: { crop: "1:1", rotate: 90, position: "top" }, more: {}, expected: rect(0, 0, 1080, 1080) },
  { options: { crop: { width: 100, height: 50 } }, more: {}, expected: rect(0, 0, 100, 50) },
  {
    options: { crop: { x: "25%", y: 10, width: "50%", height: "50%" } },
    more: {},
    expected: rect(480, 10, 960, 540),
  },
  { options: { crop: { width: "100%", height: "100%" } }, more: {}, expected: null },
  // Values are in stored pixels, of which 4 are as wide as 3 that are shown.
  {
    options: { crop: { x: 400, width: 800, height: 1080 } },
    more: { width: 1440, pixel_aspect: 4 / 3 },
    expected: rect(300, 0, 600, 1080),
  },
];

test.for(CROPPED)("$options keeps of $more the part $expected", ({ options, more, expected }) => {
  expect(createView(stored(more), options).crop).toEqual(expected);
});

test("sizes derive from the cropped part, and cover crops within it", () => {
  const video = { even: true, alpha: false };
  const crop = { x: 100, y: 200, width: 800, height: 400 };
  expect(createGeometry(stored(), { crop }, video)).toMatchObject({
    crop,
    scale: null,
    width: 800,
    height: 400,
  });
  expect(createGeometry(stored(), { crop, width: "50%" }, video)).toMatchObject({
    crop,
    width: 400,
    height: 200,
  });
  const cover = { crop, width: 200, height: 200, fit: "cover" } as const;
  expect(createGeometry(stored(), cover, video)).toMatchObject({
    ...{ crop: rect(300, 200, 400, 400), scale: { width: 200, height: 200 } },
  });
  const contain = { crop, width: 200, height: 200, fit: "contain" } as const;
  expect(createGeometry(stored(), contain, video)).toMatchObject({ crop, pad: { x: 0, y: 50 } });
  expect(
    createLadder(stored(), { crop: "1:1" }).map(({ geometry }) => [geometry.width, geometry.height]),
  ).toEqual([
    ...[
      [1080, 1080],
      [720, 720],
      [480, 480],
      [360, 360],
      [240, 240],
    ],
  ]);
});

test.for([
  { width: 1921, height: 10 },
  { x: 1900, width: 21, height: 10 },
  { y: "50%", width: 10, height: "51%" },
  { x: "100%", width: 1, height: 1 },
])("refuses the part %j, which reaches beyond the picture", (crop) => {
  expect(() => createView(stored(), { crop })).toThrow(
    expect.objectContaining({ kind: "invalid_options", param: "options.crop" }),
  );
});
