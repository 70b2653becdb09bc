import { expect, test } from "vitest";
import { parseImageOptions, writeImageOptions } from "../../src/media/image-url.ts";
import { forecast } from "../../src/media/index.ts";
import type { ImageOptions } from "../../src/media/option-types.ts";
import { parseOptions } from "../core/parse-options.ts";
import { imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const SOURCE = imageSource();

// With `enlarge: false`, the frame of a picture of 400x300, and the size of the picture within its bars.
test.for([
  [{}, "400x300"],
  [{ width: 640 }, "400x300"],
  [{ height: 640 }, "400x300"],
  [{ width: "200%" }, "400x300"],
  [{ width: 200 }, "200x150"],
  [{ width: 640, height: 640 }, "400x300"],
  [{ width: 640, height: 100 }, "400x100"],
  [{ width: 640, height: 640, fit: "contain" }, "400x300"],
  [{ width: 640, height: 200, fit: "contain" }, "400x200", "267x200"],
  [{ width: 640, height: 640, fit: "cover" }, "400x300"],
  [{ width: 640, height: 200, fit: "cover" }, "400x200"],
  [{ width: 200, height: 640, fit: "cover" }, "200x300"],
  [{ width: 200, height: 200, fit: "cover" }, "200x200"],
  [{ width: 640, rotate: 90 }, "300x400"],
  [{ width: 640, crop: "1:1" }, "300x300"],
] as const)("a 400x300 picture with %o is not enlarged: %s", ([options, size, inner = size]) => {
  const { image } = createPlan(SOURCE, "image", { ...options, enlarge: false } as ImageOptions);
  const { width = 0, height = 0, scale, pad, crop } = image?.geometry ?? {};
  expect(`${width}x${height}`).toBe(size);
  expect(pad === null ? size : `${scale?.width}x${scale?.height}`).toBe(inner);
  const part = crop ?? { width: 400, height: 300 };
  const turned = image?.geometry.rotate === 90 ? { width: part.height, height: part.width } : part;
  expect(scale === null || (scale?.width ?? 0) <= turned.width).toBe(true);
  expect(forecast("image", { ...options, enlarge: false } as ImageOptions, SOURCE).enlarged).toBe(false);
});

test("enlarges by default", () => {
  for (const options of [{ width: 800 }, { width: 800, enlarge: true }])
    expect(createPlan(SOURCE, "image", options).image?.geometry).toMatchObject({ width: 800, height: 600 });
});

test("no kind exceeds the source's sides", () => {
  const source = videoSource({ width: 321, height: 181, coded_width: 321, coded_height: 181 });
  const options = { width: 1280, height: 1280, enlarge: false } as const;
  const fit = "contain";
  expect(createPlan(source, "video", { ...options, quality: "high" }).video).toMatchObject({
    geometry: { width: 320, height: 180 },
  });
  expect(createPlan(source, "video", options).video).toMatchObject({ mode: "copy", width: 321, height: 181 });
  expect(createPlan(source, "animation", options).image?.geometry).toMatchObject({ width: 321, height: 181 });
  const [best] = createPlan(source, "adaptive_video", { ...options, fit }).renditions;
  expect(best?.geometry).toMatchObject({ width: 320, height: 180, pad: null });
  expect(createPlan(source, "adaptive_video", options).renditions[0]?.geometry).toMatchObject({
    ...{ width: 320, height: 180 },
  });
});

test("image URLs have it too", () => {
  const options = { width: 640, enlarge: false } as const;
  expect(writeImageOptions(options)).toBe("w=640,enlarge=false");
  expect(parseImageOptions("w=640,enlarge=false")).toEqual(options);
  expect(parseImageOptions("enlarge=true")).toEqual({ enlarge: true });
  expect(() => parseImageOptions("enlarge=0")).toThrow("options.enlarge must be true or false.");
});

test("requests may have it with a copy, and half turns of none", () => {
  expect(parseOptions("video", { mode: "copy", enlarge: false, rotate: 0 })).toEqual({
    ...{ mode: "copy", enlarge: false, rotate: 0 },
  });
});
