import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ORIENTATIONS, quadrantClip, quadrantPng } from "../judge/clips.ts";
import { EASY_STILLS } from "../judge/easy-stills.ts";
import { readFacts } from "../judge/facts.ts";
import { measureAll, type Shown } from "../judge/likeness.ts";
import { runNative } from "../judge/native.ts";
import {
  ALL_ORIENTATIONS,
  type ExifOrientation,
  ORIENTED,
  type OrientedFormat,
  writeOrientedAnimation,
  writeOrientedClip,
} from "../judge/oriented.ts";
import { type Encode, usePage, useService } from "./hosts.ts";

// Chroma at half resolution blurs the edges of the quadrants; the wrong way up they score below 0.6.
const LIKE = 0.85;
const LIMIT = { timeout: 240_000 };

const folder = await mkdtemp(join(tmpdir(), "framewright-oriented-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

// Orientation 5 mirrors the picture, and 8 does not.
const TURNED = [5, 8] as const;

/** The formats that state an orientation, and the orientations to test in each; one parser reads the value for all formats. */
const STILLS: readonly { format: OrientedFormat; orientations: readonly ExifOrientation[] }[] = [
  { format: "jpeg", orientations: ALL_ORIENTATIONS },
  { format: "tiff", orientations: ALL_ORIENTATIONS },
  { format: "png", orientations: TURNED },
  { format: "png with EXIF behind its pixels", orientations: TURNED },
  { format: "webp", orientations: TURNED },
  { format: "webp with a prefix", orientations: TURNED },
];

/** Returns the cases of an orientation: an upright picture and, for {@link TURNED}, a picture that options turn further. */
function casesOf(orientation: ExifOrientation) {
  const plain = { options: {}, after: "null" };
  const turned = { options: { rotate: 90, flip: "vertical" }, after: "transpose=clock,vflip" };
  return TURNED.some((each) => each === orientation) ? [plain, turned] : [plain];
}

/** Asserts that each output shows the source after its filters. */
async function expectShown(outputs: readonly (Shown & { name: string })[], source: string): Promise<void> {
  const likeness = await measureAll(outputs, source, { pixels: "gbrp" });
  for (const [at, { name }] of outputs.entries()) expect(likeness[at]?.worst, name).toBeGreaterThan(LIKE);
}

async function judgePicture(
  encode: Encode,
  { format, orientations }: (typeof STILLS)[number],
  to: "png" | "jpeg" | "avif" = "png",
) {
  const encoders = new Set<string | undefined>();
  const outputs: (Shown & { name: string })[] = [];
  for (const orientation of orientations) {
    const input = join(folder, `${format.replaceAll(" ", "-")}-${orientation}.picture`);
    await writeFile(input, await ORIENTED[format](orientation));
    for (const { options, after } of casesOf(orientation)) {
      const { path, encoder } = await encode("image", input, { format: to, quality: "high", ...options });
      encoders.add(encoder);
      const name = `orientation ${orientation} with ${JSON.stringify(options)}`;
      outputs.push({ name, output: path, filter: `${ORIENTATIONS[orientation]},${after}` });
    }
  }
  await expectShown(outputs, await quadrantPng());
  return [...encoders];
}

async function judgeClip(encode: Encode, orientation: ExifOrientation) {
  const input = await writeOrientedClip(orientation, join(folder, `clip-${orientation}.mp4`));
  const outputs: (Shown & { name: string })[] = [];
  for (const { options, after } of casesOf(orientation)) {
    for (const [kind, format] of [
      ["video", "mp4"],
      ["image", "png"],
      ["animation", "gif"],
    ] as const) {
      const { path } = await encode(kind, input, { format, quality: "very_high", ...options });
      const name = `${kind} with ${JSON.stringify(options)}`;
      outputs.push({ name, output: path, filter: `${ORIENTATIONS[orientation]},${after}` });
      if (kind === "video") expect((await readFacts(path)).picture?.rotation).toBe(0);
    }
  }
  await expectShown(outputs, await quadrantClip());
}

// Turned clockwise by a quarter, the left half is at the top.
async function judgeAnimation(encode: Encode) {
  const input = await writeOrientedAnimation(6, join(folder, "animation.webp"));
  for (const [kind, format] of [
    ["image", "gif"],
    ["video", "mp4"],
  ] as const) {
    const { path } = await encode(kind, input, { format });
    expect((await readFacts(path)).picture).toMatchObject({ width: 64, height: 96 });
    const filter = "select=eq(n\\,1),scale=1:2:flags=area,format=rgb24";
    const { output } = await runNative(["-i", path, "-vf", filter, "-frames:v", "1", "-f", "rawvideo", "-"]);
    const [top, bottom] = [output.subarray(0, 3), output.subarray(3, 6)];
    expect([(top[0] ?? 0) > 150, (top[1] ?? 0) < 90], format).toEqual([true, true]);
    expect([(bottom[0] ?? 0) < 90, (bottom[1] ?? 0) > 120], format).toEqual([true, true]);
  }
}

async function judgeEasy(encode: Encode) {
  const outputs: Shown[] = [];
  for (const make of Object.values(EASY_STILLS)) {
    const { path } = await encode("image", await make(), { format: "png" });
    outputs.push({ output: path });
  }
  const likeness = await measureAll(outputs, await quadrantPng(), { pixels: "gbrp" });
  for (const [at, name] of Object.keys(EASY_STILLS).entries())
    expect(likeness[at]?.worst, name).toBeGreaterThan(0.98);
}

describe("by a service", () => {
  const { encode, rig } = useService();

  test.concurrent.for(STILLS)("shows a $format upright", LIMIT, async (still) => {
    await judgePicture(encode, still);
  });
  test.concurrent.for(ALL_ORIENTATIONS)("shows a video of orientation %i upright", LIMIT, (orientation) =>
    judgeClip(encode, orientation),
  );
  test.concurrent("shows an animated WebP upright", LIMIT, () => judgeAnimation(encode));
  test.concurrent("shows the storyboard of a mirrored video upright", LIMIT, async () => {
    const input = await writeOrientedClip(5, join(folder, "mirrored.mp4"));
    const { door, serve } = rig();
    const options = { interval: 1, columns: 1, rows: 1, width: 96, quality: "very_high" };
    const { steps } = await door.runTask({ input: serve(input), kind: "storyboard", options });
    const sheet = steps.at(-1)?.output?.files?.find(({ mime }) => mime === "image/jpeg");
    const { path } = await door.fetchFile(sheet?.url ?? "");
    await expectShown([{ name: "sheet", output: path, filter: ORIENTATIONS[5] }], await quadrantClip());
  });
  test.concurrent("reads easy formats as they are", LIMIT, async () => {
    await judgeEasy(encode);
    // ffmpeg recognizes these by the name of their file alone.
    for (const make of [EASY_STILLS.tga, EASY_STILLS.pam]) {
      const { path } = await encode("image", await make(), { format: "avif", quality: "very_high" });
      await expectShown([{ name: "avif", output: path }], await quadrantPng());
    }
  });
});

describe("by a page", () => {
  const { encode } = usePage("oriented");

  test.for(STILLS)("shows a $format upright", LIMIT, async (still) => {
    const [to, encoder] =
      still.format === "tiff" ? (["png", "wasm"] as const) : (["jpeg", "canvas"] as const);
    expect(await judgePicture(encode, still, to)).toEqual([encoder]);
  });
  test("shows a PNG upright as AVIF", LIMIT, async () => {
    const still = { format: "png", orientations: TURNED } as const;
    expect(await judgePicture(encode, still, "avif")).toEqual(["avif"]);
  });
  test.for(ALL_ORIENTATIONS)("shows a video of orientation %i upright", LIMIT, (orientation) =>
    judgeClip(encode, orientation),
  );
  test("shows an animated WebP upright", LIMIT, () => judgeAnimation(encode));
  test("reads easy formats as they are", LIMIT, () => judgeEasy(encode));
});
