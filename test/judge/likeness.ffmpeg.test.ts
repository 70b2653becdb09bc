import { expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { measureLikeness } from "./likeness.ts";
import { LIKE } from "./limits.ts";

// Even faults that a viewer may overlook must fall below the limit that the tests use.
const FAULTS = {
  "one frame late": "trim=start_frame=1,setpts=PTS-STARTPTS",
  "one pixel to the side": "format=yuv444p,crop=iw-1:ih:1:0,pad=iw+1:ih",
  "one row up": "format=yuv444p,crop=iw:ih-1:0:1,pad=iw:ih+1",
  mirrored: "hflip",
  "one pixel wider": "scale=162:90,crop=160:90",
  blurred: "boxblur=1",
  "colors swapped": "shuffleplanes=0:2:1",
};

test("a clip has likeness 1 to itself", async () => {
  const path = await clip("mp4", { seconds: 1 });
  expect(await measureLikeness(path, path)).toEqual({ mean: 1, worst: 1, frames: 25 });
});

test.for(Object.entries(FAULTS))("a picture that is %s falls below the limit", async ([, filter]) => {
  const path = await clip("mp4", { seconds: 1 });
  const { mean } = await measureLikeness(path, path, { filter });
  expect(mean).toBeLessThan(LIKE);
});
