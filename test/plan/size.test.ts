import { expect, test } from "vitest";
import {
  displayedSize,
  parsePixelAspect,
  snap,
  storedPicture,
  targetSize,
  toRightAngle,
} from "../../src/media/picture-geometry.ts";
import { faultOf, videoSource } from "./source.ts";

test.for([
  { degrees: 0, turn: 0 },
  { degrees: 90, turn: 90 },
  { degrees: 180, turn: 180 },
  { degrees: 270, turn: 270 },
  { degrees: 360, turn: 0 },
  { degrees: -90, turn: 270 },
  { degrees: -180, turn: 180 },
  { degrees: 89.6, turn: 90 },
  { degrees: 450, turn: 90 },
] as const)("$degrees degrees round to a rotation of $turn", ({ degrees, turn }) => {
  expect(toRightAngle(degrees)).toBe(turn);
});

test.for([
  { text: "1:1", ratio: 1 },
  { text: "4:3", ratio: 4 / 3 },
  { text: "8/9", ratio: 8 / 9 },
  { text: "0:1", ratio: 1 },
  { text: "1:0", ratio: 1 },
  { text: "wide", ratio: 1 },
  { text: undefined, ratio: 1 },
] as const)("parses the sample aspect ratio $text as $ratio", ({ text, ratio }) => {
  expect(parsePixelAspect(text)).toBe(ratio);
});

test.for([
  [{ width: 720, height: 576, pixel_aspect: 1, rotate: 0 }, [720, 576]],
  [{ width: 720, height: 576, pixel_aspect: 16 / 15, rotate: 0 }, [768, 576]],
  [{ width: 720, height: 576, pixel_aspect: 64 / 45, rotate: 0 }, [1024, 576]],
  [{ width: 720, height: 480, pixel_aspect: 8 / 9, rotate: 0 }, [720, 540]],
  [{ width: 160, height: 90, pixel_aspect: 4 / 3, rotate: 0 }, [213, 90]],
  [{ width: 160, height: 90, pixel_aspect: 4 / 3, rotate: 90 }, [90, 213]],
  [{ width: 1920, height: 1080, pixel_aspect: 1, rotate: 180 }, [1920, 1080]],
  [{ width: 1920, height: 1080, pixel_aspect: 1, rotate: 270 }, [1080, 1920]],
] as const)("%o is displayed as %o", ([stored, [width, height]]) => {
  expect(displayedSize(stored)).toEqual({ width, height });
});

test("derives the stored picture from the coded size, else from the displayed size", () => {
  const turned = { rotation: 90, width: 1080, height: 1920 };
  const plain = { width: 1920, height: 1080, pixel_aspect: 1, rotate: 90 };
  expect(storedPicture(videoSource(turned))).toEqual(plain);
  const { coded_width, coded_height, ...rest } = videoSource(turned);
  expect(storedPicture(rest)).toEqual(plain);
  const { width, height, ...unknown } = rest;
  expect(storedPicture(unknown)).toBeNull();
  expect([coded_width, coded_height, width, height]).toEqual([1920, 1080, 1080, 1920]);
});

test.for([
  { exact: 0.4, whole: 1, even: 2 },
  { exact: 1, whole: 1, even: 2 },
  { exact: 2.9, whole: 3, even: 2 },
  { exact: 3, whole: 3, even: 2 },
  { exact: 3.1, whole: 3, even: 4 },
  { exact: 45, whole: 45, even: 44 },
  { exact: 161, whole: 161, even: 160 },
  { exact: 180.87, whole: 181, even: 180 },
  { exact: 481.5, whole: 482, even: 482 },
] as const)("rounds $exact pixels to $whole, or to $even for even sizes", ({ exact, whole, even }) => {
  expect([snap(exact, false), snap(exact, true)]).toEqual([whole, even]);
});

const HD = { width: 1920, height: 1080 };
const SIZES = [
  [{}, [1920, 1080]],
  [{ width: 640 }, [640, 360]],
  [{ height: 720 }, [1280, 720]],
  [{ width: 641 }, [641, 361]],
  [{ width: 100, height: 100 }, [100, 100]],
  [{ width: "50%" }, [960, 540]],
  [{ height: "25%" }, [480, 270]],
  [{ width: "33.3%" }, [639, 360]],
  [{ width: "50%", height: "100%" }, [960, 1080]],
  [{ width: "10%", height: 77 }, [192, 77]],
  [{ width: "200%" }, [3840, 2160]],
  [{ width: 1 }, [1, 1]],
  [{ width: 16_384, height: 16_384 }, [16_384, 16_384]],
] as const;

test.for(SIZES)("resolves %o on 1920×1080 to %o", ([options, [width, height]]) => {
  expect(targetSize(HD, options, { even: false })).toEqual({ width, height });
});

test.for([
  [HD, { width: 641 }, [640, 360]],
  [HD, { width: 321, height: 201 }, [320, 200]],
  [HD, { width: 1, height: 1 }, [2, 2]],
  [{ width: 161, height: 91 }, {}, [160, 90]],
  [{ width: 161, height: 91 }, { width: 320 }, [320, 180]],
  [{ width: 213, height: 90 }, { width: "50%" }, [106, 44]],
] as const)("resolves %o with %o to %o for video", ([shown, options, [width, height]]) => {
  expect(targetSize(shown, options, { even: true })).toEqual({ width, height });
});

test.for([
  { shown: HD, options: { width: "1000%" }, param: "options.width" },
  { shown: HD, options: { height: "1000%" }, param: "options.height" },
  { shown: HD, options: { width: 100, height: "1000%" }, param: undefined },
  { shown: { width: 100, height: 4000 }, options: { width: 100, height: "1000%" }, param: "options.height" },
  { shown: HD, options: { height: 10_000 }, param: "options.height" },
  { shown: { width: 20_000, height: 100 }, options: {}, param: "options.width" },
  { shown: { width: 10_000, height: 3 }, options: { width: 100 }, param: "options.width" },
  { shown: { width: 3, height: 10_000 }, options: { height: 100 }, param: "options.height" },
] as const)("limits the sides of $shown with $options", ({ shown, options, param }) => {
  if (param === undefined) return expect(targetSize(shown, options, { even: false }).height).toBe(10_800);
  const fault = faultOf(() => targetSize(shown, options, { even: false }));
  expect(fault).toMatchObject({ kind: "invalid_options", param });
  expect(fault.message).toMatch(/\d+x\d+ pixels; each side must be from 1 to 16384\.$/);
});

test("applies a format's lower limit", () => {
  const rules = { even: false, max: 16_383 };
  expect(faultOf(() => targetSize(HD, { width: 16_384, height: 10 }, rules))).toMatchObject({
    kind: "invalid_options",
    param: "options.width",
  });
});
