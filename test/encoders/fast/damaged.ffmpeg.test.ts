import { describe, expect, test } from "vitest";
import { type ClipName, clip } from "../../fixtures/clips.ts";
import { makeClip } from "../../fixtures/make-clip.ts";
import type { DamageEnd } from "./damage-thread.ts";
import { CORE, runDamaged } from "./run-fast.ts";

const MEMORY = 128 * 2 ** 20;
const ARGS =
  "-v quiet -i /in/input -map 0 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -vf scale=64:48 -c:a pcm_s16le /out/o.mkv";
const SEEDS = Array.from({ length: 45 }, (_, seed) => seed);

const clips: readonly ClipName[] = [
  ...([
    "mp4",
    "mp4_fragmented",
    "mp4_b_frames",
    "mp4_h265",
    "mp4_10_bit",
    "mpegts",
    "mpegts_interlaced",
  ] as const),
  ...(["mkv", "webm", "webm_vp8", "avi", "flv", "m4a", "mp3", "aac", "wav", "flac", "ogg", "opus"] as const),
];
const sound = (codec: string) => `-f lavfi -i sine=duration=1 -c:a ${codec}`;
const pictures = (codec: string) => `-f lavfi -i testsrc2=size=96x64:duration=1 -c:v ${codec}`;
const recipes = {
  mpg: pictures("mpeg2video -bf 2"),
  m1v: pictures("mpeg1video"),
  caf_alac: sound("alac"),
  ac3: sound("ac3"),
  eac3: sound("eac3"),
  aiff: sound("pcm_s16be"),
} as const;

const sources: readonly (readonly [string, () => Promise<string>])[] = [
  ...clips.map((name) => [name, () => clip(name, { seconds: 1, size: "96x64" })] as const),
  ...Object.entries(recipes).map(([name, args]) => {
    return [name, () => makeClip(name === "caf_alac" ? "m4a" : name, args.split(" "))] as const;
  }),
];

const ENDS: ReadonlySet<DamageEnd["end"]> = new Set([0, 1, 69, "out_of_memory", "encode_failed"]);

// 25 sources: each whole, and 44 damaged copies.
describe.skipIf(!CORE)("the fast core on damaged copies", () => {
  test.for(sources)("of %s ends each time, within its memory", async ([, make]) => {
    const ends = await runDamaged({
      input: await make(),
      seeds: SEEDS,
      args: ARGS.split(" "),
      memory: MEMORY,
    });
    expect(ends.map(({ seed }) => seed)).toEqual(SEEDS);
    expect(ends.filter(({ end, heap }) => !ENDS.has(end) || heap > MEMORY)).toEqual([]);
    expect(ends[0]?.end).toBe(0);
  });
});
