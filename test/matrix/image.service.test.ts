import { afterAll, beforeAll, test } from "vitest";
import { FORMATS } from "../../src/media/formats.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { grayPng } from "../inputs/png.ts";
import { readContainer, readWebpAnimation } from "../judge/container.ts";
import { readFacts } from "../judge/facts.ts";
import { note } from "../judge/figures.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { runNative } from "../judge/native.ts";
import { readPicture } from "../judge/picture.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };

// Least SSIM against the source at quality high, compared in 4:2:0 like the sources, as chroma upsampling differs. PNG
// loses only by that and by scaling; GIF has only 256 colors.
const LIKE_IN = { jpeg: 0.96, png: 0.98, webp: 0.95, gif: 0.93 } as const;
type Format = keyof typeof LIKE_IN;
const FORMAT_NAMES = Object.keys(LIKE_IN) as Format[];
const CODECS = { jpeg: "mjpeg", png: "png", webp: "webp", gif: "gif" } as const;

interface Shown {
  /** The displayed size. */
  size: readonly [number, number];
  /** The ffmpeg filter for the expected picture. */
  filter?: string;
  /** The format of an output whose request names none. */
  usual?: Format;
}
const plain = { size: [160, 90] } as const;
const SOURCES: Partial<Record<ClipName, Shown>> = {
  jpeg: { ...plain, usual: "jpeg" },
  png: { ...plain, usual: "png" },
  png_odd: { size: [161, 91] },
  webp: { ...plain, usual: "webp" },
  bmp: { ...plain, usual: "jpeg" },
  gif: { ...plain, usual: "gif" },
  mp4: { ...plain, usual: "jpeg" },
  webm_odd: { size: [161, 91] },
  mp4_odd: { size: [161, 91] },
  mp4_rotated_90: { size: [90, 160] },
  mp4_wide_pixels: { size: [213, 90], filter: "scale=213:90,setsar=1" },
  mp4_10_bit: plain,
};

// A source is decoded before it is encoded, so each goes to the most exact format and to one other: its own, or the next in turn.
const CASES = (Object.entries(SOURCES) as [ClipName, Shown][]).flatMap(([name, shown], index) => {
  const other = shown.usual ?? FORMAT_NAMES[index % FORMAT_NAMES.length] ?? "jpeg";
  return [...new Set<Format>(["png", other === "png" ? "webp" : other])].map((format) => ({
    name,
    format,
    ...shown,
  }));
});

async function encode(input: string, options: Record<string, unknown>) {
  return rig.door.encode({ input: rig.serve(input), kind: "image", options });
}

test.concurrent.for(CASES)(
  "$name to $format",
  LIMIT,
  async ({ name, format, size, filter, usual }, { expect, task }) => {
    const original = await clip(name, { seconds: 1 });
    const output = await encode(original, { quality: "high", ...(format !== usual && { format }) });
    expect(output.mime).toBe(FORMATS.image[format].mime);
    expect(await readContainer(output.path)).toBe(format);
    const { picture } = await readFacts(output.path);
    expect(picture).toMatchObject({
      codec: CODECS[format],
      width: size[0],
      height: size[1],
      pixel_aspect: "1:1",
    });
    expect(picture?.times).toHaveLength(1);
    const first = `${filter ?? "null"},trim=end_frame=1`;
    const like = await measureLikeness(output.path, original, { filter: first });
    note(task, { ssim: like.mean });
    expect(like.mean).toBeGreaterThan(LIKE_IN[format]);
  },
);

test.concurrent("png to png is lossless", LIMIT, async ({ expect }) => {
  const original = await clip("png_odd");
  const output = await encode(original, { format: "png" });
  expect((await measureLikeness(output.path, original, { pixels: "gbrp" })).mean).toBe(1);
});

test.concurrent.for(["png", "webp", "gif", "jpeg"] as const)(
  "keeps transparency in %s, or flattens it on black",
  LIMIT,
  async (format, { expect }) => {
    const output = await encode(await clip("png_alpha"), { format, quality: "very_high" });
    const picture = await readPicture(output.path);
    const alpha = [20, 40, 120, 140].map((x) => picture.at(x, 45)[3]);
    if (format === "jpeg") {
      expect(alpha).toEqual([255, 255, 255, 255]);
      // Transparent pixels show the black background.
      expect(Math.max(...picture.at(2, 45).slice(0, 3))).toBeLessThan(24);
      return;
    }
    const [clear = 0, , , full = 0] = alpha;
    if (format === "gif") {
      expect(clear).toBe(0);
      expect(full).toBe(255);
      return;
    }
    // The clip's alpha grows from left to right: 255·x/160.
    for (const [index, x] of [20, 40, 120, 140].entries()) {
      expect(Math.abs((alpha[index] ?? 0) - (255 * x) / 160)).toBeLessThan(4);
    }
  },
);

test.concurrent.for(["gif", "webp"] as const)(
  "keeps an animated gif animated in %s",
  LIMIT,
  async (format, { expect }) => {
    const original = await clip("gif_animated", { seconds: 1, rate: 10 });
    const output = await encode(original, { format, quality: "high" });
    if (format === "webp") {
      const animation = await readWebpAnimation(output.path);
      expect(animation).toMatchObject({ width: 160, height: 90, delays: Array(10).fill(100) });
      return;
    }
    const { picture } = await readFacts(output.path);
    expect(picture?.times).toHaveLength(10);
    expect(picture?.duration).toBeCloseTo(1, 2);
    const like = await measureLikeness(output.path, original);
    expect(like.worst).toBeGreaterThan(LIKE_IN.gif);
  },
);

test.concurrent.for(["jpeg", "png"] as const)(
  "takes the first frame of an animated gif for %s",
  LIMIT,
  async (format, { expect }) => {
    const original = await clip("gif_animated", { seconds: 1, rate: 10 });
    const output = await encode(original, { format, quality: "high" });
    const like = await measureLikeness(output.path, original, {
      filter: "trim=end_frame=1",
    });
    expect(like.mean).toBeGreaterThan(LIKE_IN[format]);
  },
);

test.concurrent("keeps the frames of an animated png in gif", LIMIT, async ({ expect }) => {
  const output = await encode(await clip("png_animated", { seconds: 1, rate: 10 }), { format: "gif" });
  expect((await readFacts(output.path)).picture?.times).toHaveLength(10);
});

test.concurrent.for([
  { start: 0, frame: 0 },
  { start: 0.4, frame: 10 },
  { start: 0.96, frame: 24 },
] as const)("start $start takes frame $frame of a video", LIMIT, async ({ start, frame }, { expect }) => {
  const original = await clip("mp4", { seconds: 1 });
  const output = await encode(original, { format: "png", start });
  const filter = `select=eq(n\\,${frame})`;
  const like = await measureLikeness(output.path, original, { filter });
  expect(like.mean).toBeGreaterThan(LIKE_IN.png);
});

test.concurrent.for([
  { name: "gif_animated", start: 0.2, frame: 2 },
  { name: "gif_animated", start: 0.29, frame: 2 },
  // ffmpeg's AVI muxer skips the second frame.
  { name: "avi", start: 0.4, frame: 3 },
  { name: "avi", start: 0.49, frame: 3 },
] as const)(
  "start in $name at $start takes frame $frame despite a coarse time base",
  LIMIT,
  async ({ name, start, frame }, { expect }) => {
    const original = await clip(name, { seconds: 1, rate: 10 });
    const output = await encode(original, { format: "png", start });
    const like = await Promise.all(
      [frame - 1, frame, frame + 1].map((at) =>
        measureLikeness(output.path, original, { filter: `select=eq(n\\,${at})` }),
      ),
    );
    const [before = 0, right = 0, after = 0] = like.map(({ mean }) => mean);
    expect(right).toBeGreaterThan(LIKE_IN.png);
    expect(Math.max(before, after)).toBeLessThan(LIKE_IN.png);
  },
);

test.concurrent.for(["rgb24", "rgba", "pal8", "gray"] as const)(
  "keeps every pixel of a PNG in %s that is stored in several passes",
  LIMIT,
  async (pixels, { expect }) => {
    const drawn =
      "testsrc2=size=64x48:rate=1:duration=1,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='4*X'";
    const paletted = `${drawn},split[a][b];[a]palettegen[p];[b][p]paletteuse`;
    const filter = pixels === "pal8" ? paletted : `${drawn},format=${pixels}`;
    const passes = ["-frames:v", "1", "-flags", "+ildct"];
    const original = await makeClip("png", ["-filter_complex", filter, ...passes]);
    const input = rig.serve(original);
    const output = await rig.door.encode({ input, kind: "image", options: { format: "png" } });
    const pixelsOf = async (path: string) =>
      (await runNative(["-i", path, "-pix_fmt", "rgba", "-f", "rawvideo", "-"])).output;
    expect((await pixelsOf(output.path)).equals(await pixelsOf(original))).toBe(true);
  },
);

test.concurrent.for([1, 2, 4] as const)(
  "keeps the transparent value of a gray PNG of %d bits",
  LIMIT,
  async (bits, { expect }) => {
    const [width, height, most] = [16, 8, 2 ** bits - 1];
    const values = Array.from(
      { length: width * height },
      (_, at) => (at + Math.floor(at / width)) % (most + 1),
    );
    const input = rig.origin.serve(`/gray-${bits}.png`, { file: grayPng(width, bits, values, 1) });
    const output = await rig.door.encode({ input, kind: "image", options: { format: "png" } });
    const { output: pixels } = await runNative([
      "-i",
      output.path,
      "-pix_fmt",
      "rgba",
      "-f",
      "rawvideo",
      "-",
    ]);
    const expected = values.flatMap((value) => {
      const gray = (value * 255) / most;
      return [gray, gray, gray, value === 1 ? 0 : 255];
    });
    expect([...pixels]).toEqual(expected);
  },
);
