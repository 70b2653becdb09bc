import { expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { readBoxes, readContainer, readWebpAnimation } from "./container.ts";

const CLIPS = {
  mp4: "mp4",
  mov: "mov",
  webm: "webm",
  matroska: "mkv",
  mp3: "mp3",
  aac: "aac",
  ogg: "ogg",
  opus: "opus",
  wav: "wav",
  flac: "flac",
  jpeg: "jpeg",
  png: "png",
  webp: "webp",
  gif: "gif",
  avif: "avif",
} as const;

test.for(Object.entries(CLIPS))("recognizes %s by its bytes", async ([format, name]) => {
  expect(await readContainer(await clip(name, { seconds: 1 }))).toBe(format);
});

test("finds the position of an MP4's index, and reads the frames of an animated WebP", async () => {
  const order = (names: string[]) => names.filter((name) => name === "moov" || name === "mdat");
  expect(order(await readBoxes(await clip("mp4", { seconds: 1 })))).toEqual(["mdat", "moov"]);
  expect(order(await readBoxes(await clip("mp4_faststart", { seconds: 1 })))).toEqual(["moov", "mdat"]);
  expect(await readWebpAnimation(await clip("webp", { seconds: 1 }))).toBeNull();
  const animation = await readWebpAnimation(await clip("webp_animated", { seconds: 1 }));
  expect(animation).toMatchObject({ width: 160, height: 90 });
  expect(animation?.delays).toHaveLength(25);
  expect(animation?.delays.reduce((sum, delay) => sum + delay, 0)).toBe(1000);
});
