import { expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { farthestFrom, type Rgb } from "../judge/exact-color.ts";
import { readPicture } from "../judge/picture.ts";
import { encode } from "./native-encode.ts";

// BT.2020 with PQ; libaom itself would tag RGB as sRGB.
const TAGS = "av1_metadata=color_primaries=9:transfer_characteristics=16:matrix_coefficients";
const COLOR = ["-f", "lavfi", "-i", "color=c=0x8C5046:s=64x48:d=0.2:r=10"];
const FORMATS = {
  rgb: "format=gbrp10le",
  yuv: "scale=out_color_matrix=bt2020:out_range=tv,format=yuv444p10le",
};
const TOLERANCE = 3;

function hdrClip(extension: string, pixels: keyof typeof FORMATS): Promise<string> {
  const codec = ["-c:v", "libaom-av1", "-cpu-used", "8", "-crf", "5"];
  const matrix = `${TAGS}=${pixels === "rgb" ? "0:color_range=pc" : "9:color_range=tv"}`;
  const frames = extension === "avif" ? ["-frames:v", "1"] : [];
  return makeClip(extension, [...COLOR, "-vf", FORMATS[pixels], ...codec, "-bsf:v", matrix, ...frames]);
}

test.for(["avif", "mp4"])("maps HDR that an %s stores as RGB to SDR", async (extension) => {
  const [rgb, yuv] = [await hdrClip(extension, "rgb"), await hdrClip(extension, "yuv")];
  const picture = await readPicture((await encode(yuv, "image", { format: "png" })).path);
  const [red, green, blue] = picture.at(32, 24);
  const color: Rgb = [red, green, blue];
  const { path, source } = await encode(rgb, "image", { format: "png" });
  expect(source.color).toMatchObject({ hdr: true, space: "gbr" });
  expect(await farthestFrom(path, color)).toBeLessThanOrEqual(TOLERANCE);
});
