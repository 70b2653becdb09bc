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
  [0, 0],
  [90, 90],
  [180, 180],
  [270, 270],
  [360, 0],
  [-90, 270],
  [-180, 180],
  [89.6, 90],
  [450, 90],
] as const)("%s degrees round to a rotation of %s", ([degrees, turn]) => {
  expect(toRightAngle(degrees)).toBe(turn);
});

test.for([
  ["1:1", 1],
  ["4:3", 4 / 3],
  ["8/9", 8 / 9],
  ["0:1", 1],
  ["1:0", 1],
  ["wide", 1],
  [undefined, 1],
] as const)("parses the sample aspect ratio %s as %s", ([text, ratio]) => {
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
  [0.4, 1, 2],
  [1, 1, 2],
  [2.9, 3, 2],
  [3, 3, 2],
  [3.1, 3, 4],
  [45, 45, 44],
  [161, 161, 160],
  [180.87, 181, 180],
  [481.5, 482, 482],
] as const)("rounds %s pixels to %s, or to %s for even sizes", ([exact, whole, even]) => {
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
  [HD, { width: "1000%" }, "options.width"],
  [HD, { height: "1000%" }, "options.height"],
  [HD, { width: 100, height: "1000%" }, undefined],
  [{ width: 100, height: 4000 }, { width: 100, height: "1000%" }, "options.height"],
  [HD, { height: 10_000 }, "options.height"],
  [{ width: 20_000, height: 100 }, {}, "options.width"],
  [{ width: 10_000, height: 3 }, { width: 100 }, "options.width"],
  [{ width: 3, height: 10_000 }, { height: 100 }, "options.height"],
] as const)("limits the sides of %o with %o", ([shown, options, param]) => {
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
