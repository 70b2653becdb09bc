import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientLab, encodeInPage, openClientLab, openKit } from "../browser/client-rig.ts";
import { ORIENTATIONS, quadrantClip, quadrantPng } from "../judge/clips.ts";
import { EASY_STILLS } from "../judge/easy-stills.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { runNative } from "../judge/native.ts";
import {
  ALL_ORIENTATIONS,
  type ExifOrientation,
  ORIENTED,
  ORIENTED_FORMATS,
  type OrientedFormat,
  writeOrientedAnimation,
  writeOrientedClip,
} from "../judge/oriented.ts";
import { openRig, type Rig } from "../judge/rig.ts";

type Kind = "image" | "video";
type Encode = (kind: Kind, input: string, options: object) => Promise<{ path: string; encoder?: string }>;

// Chroma at half resolution blurs the edges of the quadrants; the wrong way up they score below 0.6.
const LIKE = 0.85;
const LIMIT = { timeout: 240_000 };

const folder = await mkdtemp(join(tmpdir(), "framewright-oriented-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

// The picture as a player shows it, without options and with some.
const OPTIONS = [
  { options: {}, after: "null" },
  { options: { rotate: 90, flip: "vertical" }, after: "transpose=clock,vflip" },
] as const;

async function judgePicture(encode: Encode, format: OrientedFormat, to: "png" | "jpeg" | "avif" = "png") {
  const encoders = new Set<string | undefined>();
  for (const orientation of ALL_ORIENTATIONS) {
    const input = join(folder, `${format.replaceAll(" ", "-")}-${orientation}.picture`);
    await writeFile(input, await ORIENTED[format](orientation));
    // Options follow a turn with and one without mirroring.
    const cases = orientation === 5 || orientation === 8 ? OPTIONS : OPTIONS.slice(0, 1);
    for (const { options, after } of cases) {
      const output = await encode("image", input, { format: to, quality: "high", ...options });
      encoders.add(output.encoder);
      const filter = `${ORIENTATIONS[orientation]},${after}`;
      const { worst } = await measureLikeness(output.path, await quadrantPng(), { filter, pixels: "gbrp" });
      expect(worst, `orientation ${orientation} with ${JSON.stringify(options)}`).toBeGreaterThan(LIKE);
    }
  }
  return [...encoders];
}

async function judgeClip(encode: Encode, orientation: ExifOrientation) {
  const input = await writeOrientedClip(orientation, join(folder, `clip-${orientation}.mp4`));
  for (const { options, after } of OPTIONS) {
    const filter = `${ORIENTATIONS[orientation]},${after}`;
    for (const kind of ["video", "image"] as const) {
      const format = kind === "video" ? "mp4" : "png";
      const output = await encode(kind, input, { format, quality: "very_high", ...options });
      const { worst } = await measureLikeness(output.path, await quadrantClip(), { filter, pixels: "gbrp" });
      expect(worst, `${kind} with ${JSON.stringify(options)}`).toBeGreaterThan(LIKE);
      if (kind === "video") expect((await readFacts(output.path)).picture?.rotation).toBe(0);
    }
  }
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
  for (const [name, make] of Object.entries(EASY_STILLS)) {
    const output = await encode("image", await make(), { format: "png" });
    const { worst } = await measureLikeness(output.path, await quadrantPng(), { pixels: "gbrp" });
    expect(worst, name).toBeGreaterThan(0.98);
  }
}

describe("by a service", () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig?.close());

  const encode: Encode = async (kind, input, options) => {
    const { path, task } = await rig.door.encode({ input: rig.serve(input), kind, options } as Parameters<
      typeof rig.door.encode
    >[0]);
    const encoder = task.steps[2]?.output?.encoder;
    return { path, ...(encoder !== undefined && { encoder }) };
  };

  test.concurrent.for(ORIENTED_FORMATS)("shows a %s upright", LIMIT, async (format) => {
    await judgePicture(encode, format);
  });
  test.concurrent.for(ALL_ORIENTATIONS)("shows a video of orientation %i upright", LIMIT, (orientation) =>
    judgeClip(encode, orientation),
  );
  test.concurrent("shows an animated WebP upright", LIMIT, () => judgeAnimation(encode));
  test.concurrent("reads easy formats as they are", LIMIT, async () => {
    await judgeEasy(encode);
    // ffmpeg recognizes these by the name of their file alone.
    for (const make of [EASY_STILLS.tga, EASY_STILLS.pam]) {
      const { path } = await encode("image", await make(), { format: "avif", quality: "very_high" });
      const { worst } = await measureLikeness(path, await quadrantPng(), { pixels: "gbrp" });
      expect(worst).toBeGreaterThan(LIKE);
    }
  });
});

describe("by a page", () => {
  let page: ClientLab;
  beforeAll(async () => {
    page = await openClientLab();
    await openKit(page.lab.page, { name: "oriented" });
  });
  afterAll(() => page?.close());

  let outputs = 0;
  const encode: Encode = async (kind, input, options) => {
    const path = join(folder, `page-${outputs++}`);
    const encoder = await encodeInPage(page, { input, kind, options }, path);
    return { path, ...(encoder !== undefined && { encoder }) };
  };

  test.for(ORIENTED_FORMATS)("shows a %s upright", LIMIT, async (format) => {
    const [to, encoder] = format === "tiff" ? (["png", "wasm"] as const) : (["jpeg", "canvas"] as const);
    expect(await judgePicture(encode, format, to)).toEqual([encoder]);
  });
  test("shows a PNG upright as AVIF", LIMIT, async () => {
    expect(await judgePicture(encode, "png", "avif")).toEqual(["avif"]);
  });
  test.for(ALL_ORIENTATIONS)("shows a video of orientation %i upright", LIMIT, (orientation) =>
    judgeClip(encode, orientation),
  );
  test("shows an animated WebP upright", LIMIT, () => judgeAnimation(encode));
  test("reads easy formats as they are", LIMIT, () => judgeEasy(encode));
});
