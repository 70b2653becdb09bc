import { afterAll, beforeAll, test } from "vitest";
import type { ImageOptions, VideoOptions } from "../../src/media/option-types.ts";
import { quadrantClip, quadrantPng } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { openRig, type Rig } from "../judge/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
// Chroma at half resolution blurs the edges of the quadrants; the wrong way up they score below 0.6.
const LIKE = 0.93;

type Options = Pick<
  VideoOptions & ImageOptions,
  "rotate" | "flip" | "crop" | "position" | "width" | "height" | "fit"
>;

// Options and the filters by which native ffmpeg does the same to what a player shows, 160×96.
const CASES: [Options, string][] = [
  [{ rotate: 90 }, "transpose=clock"],
  [{ rotate: 180 }, "hflip,vflip"],
  [{ rotate: 270 }, "transpose=cclock"],
  [{ flip: "horizontal" }, "hflip"],
  [{ flip: "vertical" }, "vflip"],
  [{ flip: "both", rotate: 90 }, "transpose=clock,hflip,vflip"],
  [{ flip: "vertical", rotate: 270 }, "transpose=cclock,vflip"],
  [{ crop: "1:1", position: "right" }, "crop=96:96:64:0"],
  [{ crop: { x: 20, y: 8, width: 120, height: 60 }, flip: "horizontal" }, "hflip,crop=120:60:20:8"],
  [
    { crop: { x: "25%", y: "50%", width: "50%", height: "50%" }, rotate: 90, width: 96 },
    "transpose=clock,crop=48:80:24:80,scale=96:160",
  ],
  [{ crop: { x: 20, y: 8, width: 120, height: 60 }, width: 60, height: 60, fit: "cover" }, "crop=60:60:50:8"],
];

// A frame of a video takes the way of both others.
test.concurrent.for(
  CASES.flatMap(([options, filter], index) =>
    (index % 5 === 0 ? (["png", "mp4", "frame"] as const) : (["png", "mp4"] as const)).map((input) => ({
      options,
      filter,
      input,
    })),
  ),
)("$input with $options is like $filter", LIMIT, async ({ options, filter, input }, { expect }) => {
  const source = await (input === "png" ? quadrantPng() : quadrantClip());
  const kind = input === "mp4" ? "video" : "image";
  const format = input === "mp4" ? "mp4" : "png";
  const body = {
    input: rig.serve(source),
    kind,
    options: { ...options, format, quality: "very_high" },
  } as const;
  const output = await rig.door.encode(body);
  const { frames, worst } = await measureLikeness(output.path, source, { filter, pixels: "gbrp" });
  expect(worst).toBeGreaterThan(LIKE);
  if (input === "mp4") expect(frames).toBe(5);
});

test.concurrent.for([90, 180, 270] as const)(
  "turns a clip further that players turn by %i degrees",
  LIMIT,
  async (turned, { expect }) => {
    const source = await quadrantClip(turned);
    const filter = "transpose=clock,hflip,crop=50:60:10:20";
    const crop = { x: 10, y: 20, width: 50, height: 60 };
    for (const kind of ["video", "image"] as const) {
      const options = { rotate: 90, flip: "horizontal", crop, quality: "very_high" } as const;
      const format = kind === "video" ? "mp4" : "png";
      const output = await rig.door.encode({
        input: rig.serve(source),
        kind,
        options: { ...options, format },
      });
      expect((await readFacts(output.path)).picture).toMatchObject({ width: 50, height: 60, rotation: 0 });
      const { worst } = await measureLikeness(output.path, source, { filter, pixels: "gbrp" });
      expect(worst, kind).toBeGreaterThan(LIKE);
    }
  },
);

test.concurrent("streams are turned, mirrored and cut alike", LIMIT, async ({ expect }) => {
  const source = await quadrantClip();
  const options = { rotate: 90, flip: "vertical", crop: "1:1", quality: "very_high" } as const;
  const task = await rig.door.runTask({ input: rig.serve(source), kind: "adaptive_video", options });
  const filter = "transpose=clock,vflip,crop=96:96:0:32";
  const { frames, worst } = await measureLikeness(task.output ?? "", source, { filter, pixels: "gbrp" });
  expect([frames, worst > LIKE]).toEqual([5, true]);
});
