import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PoolTask } from "../browser/pool.page.ts";
import { clip } from "../fixtures/clips.ts";
import { readContainer } from "../judge/container.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";
import { rises, usePool } from "./browser-pool-rig.ts";

const rig = usePool();

const VIDEOS = [
  { name: "mp4_b_frames", options: { format: "mp4", width: 288 }, codec: "h264", sound: "aac" },
  { name: "mp4_b_frames", options: { format: "webm", width: 160 }, codec: "vp9", sound: "opus" },
  { name: "webm", options: { format: "mov", width: 160, start: 0.5, end: 5.3 }, codec: "h264", sound: "aac" },
] as const;

test.for(VIDEOS)(
  "encodes $name as $options in chunks on two workers",
  async ({ name, options, codec, sound }) => {
    const path = await clip(name, { size: "320x180", seconds: 6 });
    const encoded = await rig.encode(path, { kind: "video", options });
    expect(encoded.chunks).toBe(3);
    expect(await readContainer(encoded.path)).toBe(options.format);
    const facts = await readFacts(encoded.path);
    expect(facts).toMatchObject({
      picture: { codec, width: options.width },
      sound: { codec: sound, channels: 2 },
    });
    const [start, end] = "start" in options ? [options.start, options.end] : [0, 6];
    expect(facts.picture?.times).toHaveLength(Math.round((end - start) * 25));
    const like = await measureLikeness(encoded.path, path, {
      filter: `trim=${start}:${end},scale=${options.width}:-2`,
    });
    expect(like.worst).toBeGreaterThan(LIKE);
    // Total progress never decreases.
    expect(rises(encoded.told)).toBe(true);
    for (const index of [0, 1]) {
      const shares = encoded.shares.filter((each) => each.index === index).map(({ share }) => share);
      expect(rises(shares)).toBe(true);
      expect(Math.max(...shares)).toBeLessThanOrEqual(1);
    }
  },
);

const SOUNDS = [
  { format: "mp3", codec: "mp3" },
  { format: "aac", codec: "aac" },
  { format: "ogg", codec: "vorbis" },
  { format: "opus", codec: "opus" },
  { format: "wav", codec: "pcm_s16le" },
  { format: "flac", codec: "flac" },
] as const;

test.for(SOUNDS)("encodes audio as $format", async ({ format, codec }) => {
  const encoded = await rig.encode(await clip("mp4", { seconds: 3 }), { kind: "audio", options: { format } });
  const { sound, picture } = await readFacts(encoded.path);
  expect(sound).toMatchObject({ codec, channels: 2 });
  expect(picture ?? null).toBeNull();
  expect(encoded.files).toHaveLength(1);
});

test.for(["jpeg", "png", "webp", "gif"] as const)("encodes a still as %s", async (format) => {
  const path = await clip("png", { size: "640x360" });
  const encoded = await rig.encode(path, { kind: "image", options: { format, width: 320 } });
  expect(await readFacts(encoded.path)).toMatchObject({ picture: { width: 320, height: 180 } });
  const like = await measureLikeness(encoded.path, path, { filter: "scale=320:180" });
  expect(like.mean).toBeGreaterThan(LIKE);
});

test("encodes adaptive video in chunks", async () => {
  const path = await clip("mp4_b_frames", { size: "320x240", seconds: 13 });
  const encoded = await rig.encode(path, { kind: "adaptive_video", options: {} });
  expect(encoded.chunks).toBe(3);
  expect(encoded.main).toBe("master.m3u8");
  const { picture, sound } = await readFacts(encoded.path);
  expect(picture?.times).toHaveLength(13 * 25);
  expect(sound).toMatchObject({ codec: "aac" });
  expect(rises(encoded.told)).toBe(true);
  for (const index of [0, 1]) {
    const shares = encoded.shares.filter((each) => each.index === index).map(({ share }) => share);
    // The second chunk's times continue the first one's, but its shares start again.
    expect(shares[0]).toBeLessThan(0.2);
    // Each chunk reports progress while it runs.
    expect(shares.length).toBeGreaterThan(1);
    expect(rises(shares)).toBe(true);
  }
});

test("one pool runs a hundred jobs with identical results", { timeout: 300_000 }, async () => {
  const video = await rig.serve(await clip("mp4", { seconds: 1 }));
  const still = await rig.serve(await clip("png"));
  const results = await rig.lab.page.evaluate(
    async ([video, still]) => {
      const { encodeInPool, poolWorkers } = await import("../browser/pool.page.ts");
      const kinds: PoolTask[] = [
        { clip: video, kind: "audio", options: { format: "mp3" } },
        { clip: still, kind: "image", options: { format: "jpeg" } },
        { clip: still, kind: "image", options: { format: "webp" } },
        { clip: video, kind: "video", options: { format: "webm", width: 64 } },
        { clip: video, kind: "video", options: { format: "mp4", width: 80 } },
      ];
      const outputs: Record<string, string[]> = {};
      // Fifty tasks, each a probe and an encode.
      for (let run = 0; run < 50; run += 2) {
        const pair = [kinds[run % 5], kinds[(run + 1) % 5]] as PoolTask[];
        const results = await Promise.all(pair.map((task) => encodeInPool(task)));
        for (const [index, { files }] of results.entries()) {
          const format = String((pair[index] as PoolTask).options.format);
          const base64 = files[0]?.base64 ?? "";
          // Matroska numbers each file at random.
          const output = format === "webm" ? `${base64.length}` : base64;
          outputs[format] = [...(outputs[format] ?? []), output];
        }
      }
      const distinct = Object.entries(outputs).map(([format, all]) => [format, new Set(all).size]);
      return { distinct: Object.fromEntries(distinct), workers: poolWorkers().length };
    },
    [video, still] as const,
  );
  expect(results.workers).toBe(2);
  // Every run of the same task produces the same bytes.
  expect(results.distinct).toEqual({ jpeg: 1, mp3: 1, mp4: 1, webm: 1, webp: 1 });
});

test("a pool works inside a worker, as in the product", async () => {
  await symlink(await clip("png"), join(rig.home, "still.png"));
  await rig.lab.run("/test/browser/pool-nested.page.ts", "a pool in the media worker", "worker");
});
