import { afterAll, beforeAll, type expect, test } from "vitest";
import { FITS, type Fit, POSITIONS, type Position } from "../../src/media/formats.ts";
import { hdrQuadrantClip, quadrantClip, quadrantPng, wideQuadrantClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { type Picture, readPicture } from "../judge/picture.ts";
import { type Placing, wrongPoints } from "../judge/quadrants.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const WIDE = { width: 160, height: 96 };
const TALL = { width: 96, height: 160 };
// Stills are exact except for rounding; chroma subsampling and lossy codecs blur more, mostly near the edges that are skipped.
const TOLERANCE = { image: 4, video: 20 } as const;
const BACKGROUND = "#1e90ff";

interface Case {
  kind: "image" | "video";
  format: "png" | "mp4" | "webm";
  box: { width: number; height: number };
  fit: Fit;
  position: Position;
  background?: string;
}

const BOXES = [
  { width: 120, height: 120 },
  { width: 200, height: 60 },
];
// Fill ignores the position; one besides the center shows that.
const placesOf = (fit: Fit): readonly Position[] => (fit === "fill" ? ["center", "top-left"] : POSITIONS);
// With these the one box has room above and below, or left and right, and the other the reverse.
const DIAGONAL: ReadonlySet<Position> = new Set(["top-left", "center", "bottom-right"]);
const places = (kind: Case["kind"], format: Case["format"]): Case[] =>
  FITS.flatMap((fit) =>
    placesOf(fit).flatMap((position) =>
      BOXES.filter((_, index) => DIAGONAL.has(position) || (kind === "image" && index === 0)).map((box) => ({
        ...{ kind, format, box, fit, position },
      })),
    ),
  );
const withBackground = (kind: Case["kind"], format: Case["format"]): Case[] =>
  BOXES.map((box) => ({ kind, format, box, fit: "contain", position: "top-left", background: BACKGROUND }));

const CASES: Case[] = [
  ...places("image", "png"),
  ...places("video", "mp4"),
  // Uses the same filters as MP4, and the matrix of pairs covers this format too.
  ...places("video", "webm").filter(({ position }) => position === "top-left"),
  ...withBackground("image", "png"),
  ...withBackground("video", "mp4"),
  ...withBackground("video", "webm"),
];

const titleOf = ({ kind, format, box, fit, position, background }: Case) =>
  `${kind} ${format} ${fit} ${position} in ${box.width}×${box.height}${background ? ` on ${background}` : ""}`;

test.concurrent.for(CASES.map((each) => [titleOf(each), each] as const))(
  "%s",
  LIMIT,
  async ([, { kind, format, box, fit, position, background }], { expect }) => {
    const original = await (kind === "image" ? quadrantPng() : quadrantClip());
    const options = {
      format,
      quality: "very_high",
      ...box,
      fit,
      position,
      ...(background && { background }),
    };
    const picture = await encode(original, kind, options);
    const placing = { source: WIDE, ...box, fit, position, background: background ?? "#000000" };
    expect({ width: picture.width, height: picture.height }).toEqual(box);
    // Default bars are transparent where the format supports it, else black.
    if (kind === "image" && fit === "contain" && !background) expectTransparentBars(picture, placing, expect);
    else expect(wrongPoints(picture, placing, TOLERANCE[kind])).toEqual([]);
  },
);

async function encode(original: string, kind: "image" | "video", options: object): Promise<Picture> {
  const body = { input: rig.serve(original), kind, options: { ...options } };
  const output = await rig.door.encode(body);
  return readPicture(output.path, { frame: kind === "video" ? 2 : 0 });
}

function expectTransparentBars(picture: Picture, placing: Placing, check: typeof expect): void {
  const shown: Picture = {
    ...picture,
    at(x, y) {
      const [red, green, blue, alpha] = picture.at(x, y);
      return alpha < 128 ? [0, 0, 0, 255] : [red, green, blue, 255];
    },
  };
  check(wrongPoints(shown, placing, TOLERANCE.image)).toEqual([]);
  const corners = [
    [1, 1],
    [picture.width - 2, 1],
    [1, picture.height - 2],
    [picture.width - 2, picture.height - 2],
  ].map(([x = 0, y = 0]) => picture.at(x, y)[3]);
  check(corners).toContain(0);
}

// Partial and percentage sizes, and the result for the displayed 160x96.
const SIZES = [
  [{ width: 80 }, [80, 48]],
  [{ height: 48 }, [80, 48]],
  [{ width: "50%" }, [80, 48]],
  [{ height: "25%" }, [40, 24]],
  [{ width: "50%", height: "100%" }, [80, 96]],
  [{ width: "200%" }, [320, 192]],
  [{ width: 81, height: 49 }, [80, 48]],
  [{ width: 90, height: 90, background: BACKGROUND }, [90, 90]],
] as const;

test.concurrent.for(SIZES)(
  "sizes video with %o to %o",
  LIMIT,
  async ([options, [width, height]], { expect }) => {
    const picture = await encode(await quadrantClip(), "video", { format: "mp4", ...options });
    expect([picture.width, picture.height]).toEqual([width, height]);
    const fit = "background" in options ? "contain" : "fill";
    const placing = { source: WIDE, width, height, fit, position: "center", background: BACKGROUND } as const;
    expect(wrongPoints(picture, placing, TOLERANCE.video)).toEqual([]);
  },
);

test.concurrent("an image may have an odd size", LIMIT, async ({ expect }) => {
  const picture = await encode(await quadrantPng(), "image", { format: "png", width: 81, height: 49 });
  expect([picture.width, picture.height]).toEqual([81, 49]);
});

const TURNS = [90, 180, 270] as const;
const TURNED_CASES = TURNS.flatMap((turned) =>
  FITS.flatMap((fit) =>
    (["image", "video"] as const).map((kind) => ({ turned, fit, kind, position: "bottom-right" as const })),
  ),
);

test.concurrent.for(TURNED_CASES)(
  "fits a clip rotated by $turned degrees, $fit, as $kind",
  LIMIT,
  async ({ turned, fit, kind, position }, { expect }) => {
    const box = { width: 100, height: 130 };
    const format = kind === "image" ? "png" : "mp4";
    const options = {
      ...{ format, quality: "very_high", ...box, fit, position },
      ...(fit === "contain" && { background: BACKGROUND }),
    };
    const output = await rig.door.encode({ input: rig.serve(await quadrantClip(turned)), kind, options });
    expect((await readFacts(output.path)).picture).toMatchObject({ ...box, rotation: 0 });
    const source = turned === 180 ? WIDE : TALL;
    const picture = await readPicture(output.path);
    const placing = { source, turned, ...box, fit, position, background: BACKGROUND };
    expect(wrongPoints(picture, placing, TOLERANCE.video)).toEqual([]);
  },
);

test.concurrent.for(TURNS)(
  "percentages refer to the displayed size of a clip rotated by %s",
  LIMIT,
  async (turned, { expect }) => {
    const options = { format: "mp4", width: "50%", height: "100%" };
    const picture = await encode(await quadrantClip(turned), "video", options);
    const { width, height } = turned === 180 ? WIDE : TALL;
    expect([picture.width, picture.height]).toEqual([width / 2, height]);
  },
);

test.concurrent.for(FITS)("makes wide pixels square, %s", LIMIT, async (fit, { expect }) => {
  const box = { width: 120, height: 120 };
  const options = {
    ...{ format: "mp4", quality: "very_high", ...box, fit, position: "top-left" },
    ...(fit === "contain" && { background: BACKGROUND }),
  };
  const output = await rig.door.encode({
    input: rig.serve(await wideQuadrantClip()),
    kind: "video",
    options,
  });
  expect((await readFacts(output.path)).picture).toMatchObject({ ...box, pixel_aspect: "1:1" });
  const source = { width: 213, height: 96 };
  const placing = { source, ...box, fit, position: "top-left", background: BACKGROUND } as const;
  expect(wrongPoints(await readPicture(output.path), placing, TOLERANCE.video)).toEqual([]);
});

test.concurrent.for([
  { kind: "video", format: "mp4" },
  { kind: "video", format: "mov" },
  { kind: "image", format: "jpeg" },
  { kind: "image", format: "png" },
  { kind: "image", format: "webp" },
] as const)("tone-maps HDR to SDR for $kind $format", LIMIT, async ({ kind, format }, { expect }) => {
  const input = rig.serve(await hdrQuadrantClip());
  const output = await rig.door.encode({ input, kind, options: { format, quality: "very_high" } });
  const { picture } = await readFacts(output.path);
  expect(picture).toMatchObject(WIDE);
  expect(["bt709", "iec61966-2-1", undefined]).toContain(picture?.transfer);
  expect(picture?.pixel_format).not.toContain("10");
  const placing = { source: WIDE, ...WIDE, fit: "fill", position: "center", background: "#000000" } as const;
  // Tone curves differ; without one, colors are off by 100 and more.
  expect(wrongPoints(await readPicture(output.path), placing, 64)).toEqual([]);
});
