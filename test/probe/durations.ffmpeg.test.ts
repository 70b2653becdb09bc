import { expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import {
  changingPrograms,
  changingSound,
  editedMovie,
  film,
  lateMatroska,
  miscounted,
  truehd,
  unknownDurations,
} from "../judge/odd-lengths.ts";
import { probeFile } from "./probe-file.ts";

const FILES = [
  { name: "Matroska that starts at 100 s", make: () => lateMatroska(true), seconds: 6 },
  { name: "Matroska that starts at 100 s and states no ends", make: () => lateMatroska(false), seconds: 6 },
  { name: "fragmented MP4 with unknown durations", make: unknownDurations, seconds: 6 },
  { name: "MP3 that counts 10 times its frames", make: () => miscounted(10, "-b:a", "128k"), seconds: 6.05 },
  { name: "MP3 that counts a tenth of its frames", make: () => miscounted(0.1, "-q:a", "4"), seconds: 6.05 },
  { name: "TrueHD in Matroska", make: truehd, seconds: 2 },
] as const;

test.for(FILES)("the packets of a $name decide its duration", async ({ make, seconds }) => {
  const { source } = await probeFile(await make());
  expect(Math.abs((source.duration ?? 0) - seconds)).toBeLessThan(0.1);
  for (const { duration = seconds } of source.streams ?? [])
    expect(Math.abs(duration - seconds)).toBeLessThan(0.1);
});

test("a tag that counts an MP3's frames right stays exact", async () => {
  const { source } = await probeFile(await miscounted(1, "-q:a", "4"));
  expect(source.duration).toBe(6.024);
});

test("a transport stream that ends in other streams is refused with that reason", async () => {
  await expect(probeFile(await changingPrograms())).rejects.toMatchObject({
    kind: "input_unsupported",
    message: expect.stringContaining("ends in other streams than it starts with"),
  });
});

test("a transport stream of two programs at once is read", async () => {
  const both = ["-i", await film("mp4"), "-map", "0", "-map", "0", "-c", "copy"];
  const programs = ["-program", "st=0:st=1", "-program", "st=2:st=3"];
  const { source } = await probeFile(await makeClip("ts", [...both, ...programs]));
  expect(source.streams?.filter(({ kind }) => kind === "video")).toHaveLength(2);
});

test("a transport stream whose sound ends in another stream is refused", async () => {
  await expect(probeFile(await changingSound())).rejects.toMatchObject({
    kind: "input_unsupported",
    message: expect.stringContaining("ends in other streams than it starts with"),
  });
});

test.for([
  {
    name: "a gap between its parts",
    edit: { from: null, seconds: 1 },
    message: "leaves a gap between two parts",
  },
  { name: "a part at half the speed", edit: { from: 1, seconds: 2, rate: 0.5 }, message: "faster or slower" },
  { name: "a frozen picture", edit: { from: 1, seconds: 2, rate: 0 }, message: "freezes it" },
])("a movie whose edits have $name is refused with that reason", async ({ edit, message }) => {
  const path = await editedMovie([{ from: 0, seconds: 2 }, edit, { from: 3, seconds: 2 }]);
  await expect(probeFile(path)).rejects.toMatchObject({
    kind: "input_unsupported",
    message: expect.stringContaining(message),
  });
});
