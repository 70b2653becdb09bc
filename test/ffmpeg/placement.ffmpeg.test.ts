import { expect, test } from "vitest";
import type { GeometryOptions } from "../../src/media/features/geometry.ts";
import { FITS, type Fit, POSITIONS, type Position, type Quality } from "../../src/media/formats.ts";
import { hdrQuadrantClip, quadrantClip, quadrantPng, wideQuadrantClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { type Picture, readPicture } from "../judge/picture.ts";
import { type Placing, wrongPoints } from "../judge/quadrants.ts";
import { encode } from "./native-encode.ts";

const WIDE = { width: 160, height: 96 };
const TALL = { width: 96, height: 160 };
const BLUE = "#1e90ff";
// Stills are exact except for rounding; chroma subsampling and lossy codecs blur more, mostly near the edges that are skipped.
const TOLERANCE = { image: 4, video: 20 } as const;

const BOXES = [
  { width: 120, height: 120 },
  { width: 200, height: 60 },
  { width: 61, height: 91 },
];

type Options = GeometryOptions & { quality: Quality };
const bars = (fit: Fit) => (fit === "contain" ? { background: BLUE } : {});
const PLACES = FITS.flatMap((fit) =>
  (fit === "fill" ? (["center"] as const) : POSITIONS).map((position) => ({ fit, position })),
);

// With these the one box has room above and below, or left and right, and the others the reverse.
const DIAGONAL: ReadonlySet<Position> = new Set(["top-left", "center", "bottom-right"]);
const CASES = PLACES.flatMap((place) =>
  BOXES.filter((_, index) => index === 0 || DIAGONAL.has(place.position)).map((box) => ({ ...place, box })),
);

test.concurrent.for(CASES)(
  "fits an image, $fit $position, into $box.width×$box.height",
  async ({ fit, position, box }, { expect }) => {
    const options = { format: "png", ...box, fit, position, ...bars(fit) } as const;
    const { path } = await encode(await quadrantPng(), "image", options);
    const picture = await readPicture(path);
    expect({ width: picture.width, height: picture.height }).toEqual(box);
    const placing = { source: WIDE, ...box, fit, position, background: BLUE };
    expect(wrongPoints(picture, placing, TOLERANCE.image)).toEqual([]);
  },
);

// Pictures are turned before they are placed.
const TURNED = [
  ...([0, 90, 180, 270] as const).map((turned) => ({ fit: "contain", turned, kind: "image" }) as const),
  ...([0, 90, 180, 270] as const).map((turned) => ({ fit: "cover", turned, kind: "video" }) as const),
  { fit: "contain", turned: 90, kind: "video" },
  { fit: "cover", turned: 270, kind: "image" },
  { fit: "fill", turned: 90, kind: "image" },
  { fit: "fill", turned: 270, kind: "video" },
] as const;

test.concurrent.for(TURNED)(
  "fits a clip rotated by $turned, $fit, as $kind",
  async ({ fit, turned, kind }, { expect }) => {
    const box = { width: 100, height: 130 };
    const options: Options = { quality: "very_high", ...box, fit, position: "bottom-right", ...bars(fit) };
    const input = await quadrantClip(turned);
    const { path } = await (kind === "image"
      ? encode(input, kind, { format: "png", ...options })
      : encode(input, kind, options));
    expect((await readFacts(path)).picture).toMatchObject({ ...box, rotation: 0, pixel_aspect: "1:1" });
    const source = turned % 180 === 0 ? WIDE : TALL;
    const placing = { source, turned, ...box, fit, position: "bottom-right", background: BLUE } as const;
    expect(wrongPoints(await readPicture(path), placing, TOLERANCE.video)).toEqual([]);
  },
);

test.concurrent.for([
  { fit: "contain", format: "mp4" },
  { fit: "contain", format: "png" },
  { fit: "cover", format: "webm" },
  { fit: "cover", format: "jpeg" },
  { fit: "fill", format: "mp4" },
  { fit: "fill", format: "png" },
] as const)("makes wide pixels square, $fit in $format", async ({ fit, format }, { expect }) => {
  const box = { width: 120, height: 120 };
  const options: Options = { quality: "very_high", ...box, fit, position: "top-left", ...bars(fit) };
  const input = await wideQuadrantClip();
  const { path } = await (format === "png" || format === "jpeg"
    ? encode(input, "image", { format, ...options })
    : encode(input, "video", { format, ...options }));
  expect((await readFacts(path)).picture).toMatchObject({ ...box, pixel_aspect: "1:1" });
  const source = { width: 213, height: 96 };
  const placing = { source, ...box, fit, position: "top-left", background: BLUE } as const;
  expect(wrongPoints(await readPicture(path), placing, TOLERANCE.video)).toEqual([]);
});

test.concurrent("default bars are transparent where the format supports it, else black", async ({
  expect,
}) => {
  const box = { width: 120, height: 120, fit: "contain" } as const;
  const input = await quadrantPng();
  for (const format of ["png", "webp", "gif"] as const) {
    const picture = await readPicture((await encode(input, "image", { format, ...box })).path);
    expect([format, picture.at(60, 4)[3], picture.at(60, 60)[3]]).toEqual([format, 0, 255]);
  }
  const jpeg = await readPicture((await encode(input, "image", { format: "jpeg", ...box })).path);
  expect(Math.max(...jpeg.at(60, 4).slice(0, 3))).toBeLessThan(4);
});

test.concurrent.for(["mp4", "jpeg", "png", "webp"] as const)(
  "tone-maps HDR for %s",
  async (format, { expect }) => {
    const input = await hdrQuadrantClip();
    const quality = "very_high";
    const { path } = await (format === "mp4"
      ? encode(input, "video", { format, quality, codec: "h264" })
      : encode(input, "image", { format, quality }));
    const { picture } = await readFacts(path);
    expect(picture).toMatchObject(WIDE);
    expect(picture?.pixel_format).not.toContain("10");
    const placing = { source: WIDE, ...WIDE, fit: "fill", position: "center", background: BLUE } as const;
    // Tone curves differ; without one, colors are off by 100 and more.
    expect(wrongPoints(await readPicture(path), placing, 64)).toEqual([]);
  },
);

test("the check detects a misplaced picture", async () => {
  const { path } = await encode(await quadrantPng(), "image", {
    format: "png",
    width: 120,
    height: 120,
    fit: "cover",
    position: "left",
  });
  const picture: Picture = await readPicture(path);
  const placing: Placing = {
    source: WIDE,
    width: 120,
    height: 120,
    fit: "cover",
    position: "right",
    background: BLUE,
  };
  expect(wrongPoints(picture, placing, TOLERANCE.image).length).toBeGreaterThan(50);
});
