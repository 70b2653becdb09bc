import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { quadrantClip } from "../judge/clips.ts";
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
  flipped: isMirrored(orientation) || undefined,
  width: orientation < 5 ? 160 : 96,
  height: orientation < 5 ? 96 : 160,
});

test.for(PICTURES)("reads orientation $orientation of a $format", async ({ format, orientation }) => {
  const path = join(folder, `${orientation}.picture`);
  await writeFile(path, await ORIENTED[format](orientation));
  const { rotation, flipped, width, height } = (await probeFile(path)).source;
  expect({ rotation, flipped, width, height }).toEqual(factsOf(orientation));
});

test.for(ALL_ORIENTATIONS)("reads orientation %i of an MP4 from its display matrix", async (orientation) => {
  const path = await writeOrientedClip(orientation, join(folder, `${orientation}.mp4`));
  const fragmented = await makeClip("mp4", [
    ...["-i", path, "-c", "copy", "-movflags", "+frag_keyframe+empty_moov"],
  ]);
  for (const file of [path, fragmented]) {
    const { rotation, flipped, width, height } = (await probeFile(file)).source;
    expect({ rotation, flipped, width, height }).toEqual(factsOf(orientation));
  }
});

test.for([45, 30, -10])("refuses a display matrix of %i degrees", async (degrees) => {
  const plain = await quadrantClip();
  const path = join(folder, `tilted-${degrees}.mp4`);
  const file = await readFile(plain);
  const at = file.indexOf("tkhd") + 44;
  const [cos, sin] = [Math.cos, Math.sin].map((each) =>
    Math.round(each((degrees * Math.PI) / 180) * 0x10000),
  );
  [cos, sin, 0, -(sin ?? 0), cos, 0].forEach((value, index) => {
    file.writeInt32BE(value ?? 0, at + 4 * index);
  });
  await writeFile(path, file);
  await expect(probeFile(path)).rejects.toMatchObject({
    kind: "input_unsupported",
    message: `The file asks players to turn its pictures by ${degrees} degrees; only turns by 90, 180 and 270 are supported.`,
  });
});
