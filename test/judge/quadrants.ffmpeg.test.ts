import { expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { hdrQuadrantClip, quadrantClip, quadrantPng, wideQuadrantClip } from "./clips.ts";
import { readPicture } from "./picture.ts";
import { type Placing, wrongPoints } from "./quadrants.ts";

const SOURCE = { width: 160, height: 96 };
const PLAIN: Placing = {
  source: SOURCE,
  ...SOURCE,
  fit: "fill",
  position: "center",
  background: "#000000",
};

test("finds every quadrant in place: still, moving, rotated and with wide pixels", async () => {
  expect(wrongPoints(await readPicture(await quadrantPng()), PLAIN, 1)).toEqual([]);
  expect(wrongPoints(await readPicture(await quadrantClip(), { frame: 4 }), PLAIN, 8)).toEqual([]);
  expect(wrongPoints(await readPicture(await wideQuadrantClip()), PLAIN, 8)).toEqual([]);
  const upright = { source: { width: 96, height: 160 }, width: 96, height: 160 };
  for (const turned of [90, 270] as const) {
    const picture = await readPicture(await quadrantClip(turned));
    expect(wrongPoints(picture, { ...PLAIN, ...upright, turned }, 8)).toEqual([]);
    const otherWay = turned === 90 ? 270 : 90;
    expect(wrongPoints(picture, { ...PLAIN, ...upright, turned: otherWay }, 8)).not.toEqual([]);
  }
});

// Hand-written filters for each placing; the test shifts each result slightly for a wrong one.
const PLACED = [
  {
    fit: "contain",
    position: "top",
    filter: "scale=128:77,pad=128:128:0:0:0x1e90ff",
    width: 128,
    height: 128,
  },
  {
    fit: "contain",
    position: "center",
    filter: "scale=128:77,pad=128:128:0:25:0x1e90ff",
    width: 128,
    height: 128,
  },
  {
    fit: "contain",
    position: "bottom-left",
    filter: "scale=128:77,pad=128:128:0:51:0x1e90ff",
    width: 128,
    height: 128,
  },
  { fit: "cover", position: "left", filter: "scale=213:128,crop=128:128:0:0", width: 128, height: 128 },
  { fit: "cover", position: "top-right", filter: "scale=213:128,crop=128:128:85:0", width: 128, height: 128 },
  { fit: "cover", position: "bottom", filter: "scale=160:96,crop=160:60:0:36", width: 160, height: 60 },
  { fit: "fill", position: "center", filter: "scale=90:120", width: 90, height: 120 },
] as const;

test.for(PLACED)(
  "accepts $fit at $position and rejects it shifted",
  async ({ fit, position, filter, width, height }) => {
    const placing: Placing = { source: SOURCE, width, height, fit, position, background: "#1e90ff" };
    const make = (filters: string) =>
      quadrantPng().then((path) => makeClip("png", ["-i", path, "-vf", filters]));
    expect(wrongPoints(await readPicture(await make(filter)), placing, 4)).toEqual([]);
    const shifted = `${filter},crop=iw-6:ih-6:6:6,pad=iw+6:ih+6`;
    expect(wrongPoints(await readPicture(await make(shifted)), placing, 4)).not.toEqual([]);
  },
);

test("tone mapping restores the colors of the HDR clip, which are far off without it", async () => {
  const clip = await hdrQuadrantClip();
  const mapped =
    "zscale=transfer=linear:npl=203,format=gbrpf32le,zscale=primaries=bt709,tonemap=clip,zscale=transfer=bt709:matrix=bt709:range=tv,format=yuv420p,setparams=colorspace=bt709";
  const tone = await makeClip("png", ["-i", clip, "-frames:v", "1", "-vf", mapped]);
  expect(wrongPoints(await readPicture(tone), PLAIN, 32)).toEqual([]);
  const raw = await makeClip("png", ["-i", clip, "-frames:v", "1"]);
  expect(wrongPoints(await readPicture(raw), PLAIN, 64)).not.toEqual([]);
});
