import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ClientLab, encodeInPage, openClientLab, openKit } from "../browser/client-rig.ts";
import { ORIENTATIONS, quadrantClip, quadrantPng } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import {
  ALL_ORIENTATIONS,
  type ExifOrientation,
  ORIENTED,
  ORIENTED_FORMATS,
  type OrientedFormat,
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
});
