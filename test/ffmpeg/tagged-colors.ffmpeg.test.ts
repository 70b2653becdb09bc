import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { dropped } from "../../src/media/dropped.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { farthestFrom } from "../judge/exact-color.ts";
import { TAGGED, taggedClip } from "../judge/tagged.ts";
import { probeFile } from "../probe/probe-file.ts";
import { encode } from "./native-encode.ts";

const TOLERANCE = 6;
const chunkNames = (png: Buffer) => ["gAMA", "cHRM", "cICP"].filter((name) => png.includes(name));

async function colorTags(path: string) {
  const { streams } = (await runFfprobe(path)) as {
    streams: { color_space?: string; color_primaries?: string; color_transfer?: string }[];
  };
  const { color_primaries, color_transfer, color_space } = streams[0] ?? {};
  return [color_primaries, color_transfer, color_space];
}

describe.for(TAGGED)("SDR video in $name", (clip) => {
  test("loses no HDR", async () => {
    const { source, fell_back } = await probeFile(await taggedClip(clip));
    expect([source.color?.hdr, fell_back]).toEqual([false, false]);
    expect(dropped("image", { format: "webp" }, source)).toEqual([]);
  });

  test.for(["jpeg", "webp", "png", "avif"] as const)("becomes a %s of its colors in sRGB", async (format) => {
    const { path } = await encode(await taggedClip(clip), "image", { format, quality: "very_high" });
    expect(await farthestFrom(path, clip.color)).toBeLessThanOrEqual(TOLERANCE);
    if (format === "png") expect(chunkNames(await readFile(path))).toEqual([]);
    if (format === "avif") expect(await colorTags(path)).toEqual(["bt709", "iec61966-2-1", "smpte170m"]);
  });

  test("becomes an animated AVIF of its colors in sRGB", async () => {
    const { path } = await encode(await taggedClip(clip), "animation", { format: "avif" });
    expect(await farthestFrom(path, clip.color)).toBeLessThanOrEqual(TOLERANCE);
  });

  test("stays as bright in a WebM, with its tags", async () => {
    const { path } = await encode(await taggedClip(clip), "video", {
      format: "webm",
      quality: "very_high",
      width: 80,
    });
    expect(await farthestFrom(path, [200, 50, 50])).toBeLessThanOrEqual(TOLERANCE);
    expect(await colorTags(path)).toEqual(clip.tags);
  });
});
