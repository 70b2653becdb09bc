import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ImageOptions } from "../../src/media/options.ts";
import { clip } from "../fixtures/clips.ts";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { movingWebp } from "../fixtures/moving-webp.ts";
import { ORIENTATIONS, orientedPhoto, quadrantPng } from "../judge/clips.ts";
import { withDamagedProfile } from "../judge/color-profiles.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { colorDistance, readPicture } from "../judge/picture.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
let source: string;
let intact: string;
let logo: string;
beforeAll(async () => {
  rig = await openRig();
  source = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25:duration=2"],
    ...["-f", "lavfi", "-i", "sine=f=440:sample_rate=48000:duration=2"],
    ..."-c:v libx264 -preset veryfast -crf 8 -pix_fmt yuv420p -c:a aac".split(" "),
  ]);
  // The left half of the logo is transparent. ffmpeg fails at a damaged profile, which viewers ignore.
  intact = await makeClip("png", [
    ...["-f", "lavfi", "-i", "color=red:size=20x20,format=rgba,pad=40:20:20:0:color=0x00000000"],
    ...["-frames:v", "1"],
  ]);
  logo = await keepClip("png", "logo with a damaged profile", async (path) =>
    writeFile(path, withDamagedProfile(await readFile(intact))),
  );
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const RED_SQUARE = ["-f", "lavfi", "-i", "color=red:size=20x20", "-frames:v", "1"] as const;
const RED = [254, 0, 0, 255] as const;

// Each case as ffmpeg's own box draws it; `shown` are frames with it, `bare` without, and `at` a point in it.
const CASES = [
  {
    encoder: "light",
    overlay: { position: "bottom-right" },
    box: "x=140:y=70:w=20:h=20:color=red",
    ...{ at: [150, 80] as const, shown: [0, 49], bare: [] },
  },
  {
    encoder: "native",
    options: { codec: "h265", width: 320 },
    overlay: { position: { x: 10, y: "50%" }, width: "25%", opacity: 0.5, start: 0.5, end: 1 },
    box: "x=50:y=90:w=40:h=40:color=red@0.5:enable='gte(t,0.5)*lt(t,1)'",
    ...{ at: [70, 110] as const, shown: [13, 24], bare: [12, 25] },
  },
  {
    encoder: "light",
    options: { start: 0.4, speed: 2, width: 80 },
    overlay: { width: 20, position: "top-left", end: 0.4 },
    box: "x=10:y=0:w=10:h=10:color=red:enable='lt(t,0.4)'",
    ...{
      before: "trim=start=0.4,setpts=PTS-STARTPTS,select=not(mod(n\\,2)),setpts=N/25/TB,scale=80:44",
      at: [15, 5] as const,
      shown: [0, 9],
      bare: [10],
    },
  },
] as const;

test.for(CASES)("lays a picture over a video: $overlay by $encoder", LIMIT, async (row) => {
  const { box, at, shown, bare } = row;
  const options = { quality: "very_high", ...("options" in row && row.options) } as const;
  const overlay = { url: rig.serve(logo), ...row.overlay };
  const { path, task } = await rig.door.encode({
    ...{ input: rig.serve(source), kind: "video", options: { ...options, overlay } },
  });
  expect(task.steps[2]?.output).toMatchObject({ encoder: row.encoder });
  const { picture, sound } = await readFacts(path);
  expect(sound?.codec).toBe("aac");
  const before = "before" in row ? row.before : `scale=${picture?.width}:${picture?.height}`;
  const like = { filter: `${before},drawbox=${box}:t=fill` };
  expect((await measureLikeness(path, source, like)).worst).toBeGreaterThan(0.93);
  const colors = async (file: string, frame: number, filter = "null") =>
    (await readPicture(file, { frame, filter })).at(at[0], at[1]);
  for (const frame of [...shown, ...bare]) {
    const expected = await colors(source, frame, `${before},drawbox=${box}:t=fill`);
    expect(colorDistance(await colors(path, frame), expected), `frame ${frame}`).toBeLessThan(30);
  }
  const solid = "opacity" in row.overlay ? [] : shown;
  for (const frame of solid) expect(colorDistance(await colors(path, frame), RED)).toBeLessThan(30);
});

test.for([2, 5, 7] as const)(
  "lays a photo of orientation %d upright over both kinds",
  LIMIT,
  async (orientation) => {
    const url = rig.origin.serve(`/photo-${orientation}.jpg`, { file: await orientedPhoto(orientation) });
    const filter = ORIENTATIONS[orientation];
    const [width, height] = orientation > 4 ? [96, 160] : [160, 96];
    const under = ["-f", "lavfi", "-i", `color=gray:size=${width}x${height}:duration=1`];
    const overlay = { url, position: "center" } as const;
    const png = rig.serve(await makeClip("png", [...under, "-frames:v", "1"]));
    const image = await rig.door.encode({ input: png, kind: "image", options: { format: "png", overlay } });
    const like = { filter, pixels: "gbrp" };
    expect((await measureLikeness(image.path, await quadrantPng(), like)).worst).toBeGreaterThan(0.93);
    const input = rig.serve(await makeClip("mp4", [...under, "-c:v", "libx264", "-pix_fmt", "yuv420p"]));
    const video = await rig.door.encode({ input, kind: "video", options: { overlay, quality: "very_high" } });
    const [picture, expected] = [
      await readPicture(video.path),
      await readPicture(await quadrantPng(), { filter }),
    ];
    for (const [x, y] of [
      [0.25, 0.25],
      [0.75, 0.25],
      [0.25, 0.75],
      [0.75, 0.75],
    ] as const) {
      const at = [x * width, y * height] as const;
      expect(colorDistance(picture.at(...at), expected.at(...at)), `${x}, ${y}`).toBeLessThan(30);
    }
  },
);

test.for([
  { at: "/missing.png", answer: { status: 404 }, kind: "input_not_found" },
  { at: "/text.png", answer: { file: new TextEncoder().encode("no picture") }, kind: "input_unsupported" },
] as const)("a task whose overlay is $at says so", LIMIT, async ({ at, answer, kind }) => {
  const url = rig.origin.serve(at, answer);
  const task = await rig.door.runTask({
    input: rig.serve(source),
    kind: "video",
    options: { overlay: { url } },
  });
  expect(task).toMatchObject({ status: "failed", error: { kind } });
  expect(task.error?.message).toMatch(/^options\.overlay\.url: /);
});

test.for([
  { name: "a video", format: "mp4", file: () => source },
  { name: "a moving WebP", format: "animated webp", file: movingWebp },
] as const)("$name is no overlay", LIMIT, async ({ format, file }) => {
  const overlay = { url: rig.serve(await file()) };
  const task = await rig.door.runTask({ input: rig.serve(source), kind: "video", options: { overlay } });
  expect(task.error).toMatchObject({
    kind: "input_unsupported",
    message: `options.overlay.url: The picture must be a PNG, JPEG, GIF, BMP, TIFF or WebP that is not animated; it is ${format}.`,
  });
});

// Images, the picture over each, and how ffmpeg lays it there: filters of both, and the place.
const IMAGES = [
  {
    name: "a JPEG under a PNG",
    input: () => clip("jpeg", { size: "320x180" }),
    options: { format: "jpeg", quality: "high", width: 160 },
    overlay: { position: "bottom-right", width: "25%", opacity: 0.5 },
    file: () => intact,
    like: ["scale=160:90", "scale=40:20,format=rgba,colorchannelmixer=aa=0.5", "W-w:H-h"],
  },
  {
    name: "an animated GIF under a JPEG",
    input: () => clip("gif_animated", { size: "160x90" }),
    options: { format: "gif" },
    overlay: { position: { x: 7, y: "50%" }, width: 31 },
    file: () => clip("jpeg", { size: "62x40" }),
    like: ["null", "scale=31:20", "7:45"],
  },
  {
    name: "a frame of a video under a BMP",
    input: () => source,
    options: { format: "png", start: 1 },
    overlay: { position: "top" },
    file: () => makeClip("bmp", [...RED_SQUARE, "-pix_fmt", "bgr24"]),
    like: ["select=eq(n\\,25)", "null", "(W-w)/2:0"],
  },
  {
    name: "a JPEG as AVIF under a TIFF",
    input: () => clip("jpeg", { size: "320x180" }),
    options: { format: "avif", quality: "high" },
    overlay: { width: "40%", position: "right" },
    file: () => makeClip("tiff", [...RED_SQUARE, "-pix_fmt", "rgb24"]),
    like: ["null", "scale=128:128", "W-w:(H-h)/2"],
    encoder: "native",
  },
] as const;

test.for(IMAGES)("$name is as by ffmpeg's own overlay", LIMIT, async (row) => {
  const [input, file] = [await row.input(), await row.file()];
  const overlay = { url: rig.serve(file), ...row.overlay };
  const options = { ...row.options, overlay };
  const { path, task } = await rig.door.encode({ input: rig.serve(input), kind: "image", options });
  expect(task.steps[2]?.output).toMatchObject({
    encoder: "encoder" in row ? row.encoder : "light",
    format: row.options.format,
  });
  const [under, over, place] = row.like;
  const filter = `${under}[under];movie=${file},${over}[over];[under][over]overlay=${place}:format=rgb`;
  const like = await measureLikeness(path, input, { filter });
  expect(like.worst).toBeGreaterThan(0.97);
  expect(like.frames).toBe((await readFacts(path)).picture?.times.length);
  const bare = await measureLikeness(path, input, { filter: under });
  expect(bare.mean).toBeLessThan(like.worst - 0.01);
});

test("an overlay is clear where its image is, and shrinks with one of limited size", LIMIT, async () => {
  const clear = await clip("png_alpha", { size: "160x90" });
  const laid = { url: rig.serve(logo), position: { x: 0, y: 0 } } as const;
  const ask = (options: ImageOptions) => rig.door.encode({ input: rig.serve(clear), kind: "image", options });
  const { path } = await ask({ overlay: laid });
  const [picture, before] = [await readPicture(path), await readPicture(clear)];
  expect(colorDistance(picture.at(30, 10), RED)).toBeLessThan(3);
  for (const [x, y] of [
    [10, 10],
    [30, 30],
    [2, 80],
  ] as const)
    expect([x, y, colorDistance(picture.at(x, y), before.at(x, y))]).toEqual([
      x,
      y,
      expect.toSatisfy((far) => far < 3),
    ]);

  const small = await ask({ overlay: { ...laid, position: "bottom-right" }, max_bytes: 2000 });
  const tiny = await readPicture(small.path);
  const by = tiny.width / 160;
  expect(by).toBeLessThan(0.7);
  const [x, y] = [(160 - 10) * by, (90 - 10) * by].map(Math.round);
  expect(colorDistance(tiny.at(x ?? 0, y ?? 0), RED)).toBeLessThan(30);
  const out = Math.round((160 - 30) * by);
  expect(colorDistance(tiny.at(out, y ?? 0), RED)).toBeGreaterThan(100);
});
