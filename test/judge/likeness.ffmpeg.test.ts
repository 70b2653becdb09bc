import { expect, test } from "vitest";
import { similarities } from "../../bench/similarity.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
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

test("a benchmark scores an AVIF alike in full and limited range", async () => {
  const picture = ["-f", "lavfi", "-i", "testsrc2=size=320x180:rate=1:duration=1", "-frames:v", "1"];
  const photo = await makeClip("jpg", [...picture, "-q:v", "1"]);
  const avif = (range: "tv" | "pc") =>
    makeClip("avif", [
      ...[...picture, "-vf", `scale=out_range=${range},format=yuv420p`, "-color_range", range],
      ...["-c:v", "libaom-av1", "-still-picture", "1", "-cpu-used", "6", "-crf", "5"],
    ]);
  const [limited, full] = [await avif("tv"), await avif("pc")];
  // A comparison that does not convert the range gives 0.954.
  for (const [output, source] of [
    [limited, full],
    [full, limited],
    [limited, photo],
    [full, photo],
  ] as const)
    expect((await similarities(output, source, 320))[0]).toBeGreaterThan(0.995);
});
