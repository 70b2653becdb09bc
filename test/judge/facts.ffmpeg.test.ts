import { expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { readFacts } from "./facts.ts";

test("reads the facts a clip was made with", async () => {
  const { format, duration, streams, picture, sound } = await readFacts(
    await clip("mp4_rotated_90", { seconds: 1 }),
  );
  expect({ format: format.split(","), streams }).toMatchObject({
    format: expect.arrayContaining(["mp4"]),
    streams: 2,
  });
  expect(duration).toBeCloseTo(1, 1);
  expect(picture).toMatchObject({
    codec: "h264",
    tag: "avc1",
    width: 160,
    height: 90,
    pixel_aspect: "1:1",
    interlaced: false,
  });
  expect(picture?.rotation).not.toBe(0);
  expect(picture?.times).toHaveLength(25);
  expect(picture?.duration).toBeCloseTo(1, 3);
  expect(sound).toMatchObject({ codec: "aac", channels: 2, sample_rate: 44_100 });
});

test("a clip without audio or without video has null for its facts", async () => {
  expect((await readFacts(await clip("mp4_silent", { seconds: 1 }))).sound).toBeNull();
  expect((await readFacts(await clip("mp3", { seconds: 1 }))).picture).toBeNull();
});

test("detects non-square pixels, interlacing and a variable frame rate", async () => {
  const wide = await readFacts(await clip("mp4_wide_pixels", { seconds: 1 }));
  expect(wide.picture?.pixel_aspect).toBe("4:3");
  expect((await readFacts(await clip("mp4_interlaced", { seconds: 1 }))).picture?.interlaced).toBe(true);
  const times = (await readFacts(await clip("mp4_vfr", { seconds: 1 }))).picture?.times ?? [];
  const gaps = new Set(times.slice(1).map((time, at) => Math.round((time - (times[at] ?? 0)) * 100)));
  expect(gaps.size).toBeGreaterThan(1);
});
