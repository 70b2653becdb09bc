import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import {
  ALL_ORIENTATIONS,
  isMirrored,
  ORIENTED,
  ORIENTED_FORMATS,
  TURNS,
  writeOrientedClip,
} from "../judge/oriented.ts";
import { probeFile } from "./probe-file.ts";

const folder = await mkdtemp(join(tmpdir(), "framewright-orientation-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const PICTURES = ORIENTED_FORMATS.flatMap((format) =>
  ALL_ORIENTATIONS.map((orientation) => ({ format, orientation })),
);

const factsOf = (orientation: (typeof ALL_ORIENTATIONS)[number]) => ({
  rotation: TURNS[orientation],
  mirrored: isMirrored(orientation) || undefined,
  width: orientation < 5 ? 160 : 96,
  height: orientation < 5 ? 96 : 160,
});

test.for(PICTURES)("reads orientation $orientation of a $format", async ({ format, orientation }) => {
  const path = join(folder, `${orientation}.picture`);
  await writeFile(path, await ORIENTED[format](orientation));
  const { rotation, mirrored, width, height } = (await probeFile(path)).source;
  expect({ rotation, mirrored, width, height }).toEqual(factsOf(orientation));
});

test.for(ALL_ORIENTATIONS)("reads orientation %i of an MP4 from its display matrix", async (orientation) => {
  const path = await writeOrientedClip(orientation, join(folder, `${orientation}.mp4`));
  const fragmented = await makeClip("mp4", [
    ...["-i", path, "-c", "copy", "-movflags", "+frag_keyframe+empty_moov"],
  ]);
  for (const file of [path, fragmented]) {
    const { rotation, mirrored, width, height } = (await probeFile(file)).source;
    expect({ rotation, mirrored, width, height }).toEqual(factsOf(orientation));
  }
});
