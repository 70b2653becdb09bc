import { afterAll, beforeAll, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { noiseClip, noiseSound } from "../judge/clips.ts";
import { readContainer } from "../judge/container.ts";
import { readFacts, recallFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { compareSound, readSound, recallSound } from "../judge/sound.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const STEREO = { channels: 2, sample_rate: 48_000 };

const VIDEOS = [
  { name: "mp4", format: "mp4" },
  { name: "mp4", format: "mov" },
  { name: "mp4_b_frames", format: "mp4" },
  { name: "mp4_fragmented", format: "mp4" },
  { name: "mp4_vfr", format: "mov" },
  { name: "mp4_silent", format: "mp4" },
  { name: "mov", format: "mp4" },
  { name: "mkv", format: "mp4" },
  { name: "flv", format: "mp4" },
  { name: "webm", format: "webm" },
] as const;

test.concurrent.for(VIDEOS)(
  "$name to $format is lossless without options",
  LIMIT,
  async ({ name, format }, { expect }) => {
    const original = await clip(name, { seconds: 1 });
    const output = await rig.door.encode({ input: rig.serve(original), kind: "video", options: { format } });
    expect(await readContainer(output.path)).toBe(format);
    expect((await measureLikeness(output.path, original)).worst).toBe(1);
    const [got, expected] = await Promise.all([readFacts(output.path), recallFacts(original)]);
    const gaps = (times: readonly number[] = []) =>
      times.map((time) => Math.round((time - (times[0] ?? 0)) * 500));
    expect(gaps(got.picture?.times)).toEqual(gaps(expected.picture?.times));
    expect(got.sound?.codec).toBe(expected.sound?.codec);
    if (!expected.sound) return;
    const [sound, before] = await Promise.all([
      readSound(output.path, STEREO),
      recallSound(original, STEREO),
    ]);
    for (const echo of compareSound(sound, before, 0.01)) {
      expect(echo.correlation).toBeGreaterThan(0.9999);
      expect(echo.lag).toBe(0);
    }
  },
);

const SOUNDS = [
  { name: "mp3", format: "mp3" },
  { name: "ogg", format: "ogg" },
  { name: "opus", format: "opus" },
  { name: "flac", format: "flac" },
  { name: "wav", format: "wav" },
] as const;

test.concurrent.for(SOUNDS)(
  "$name audio to $format is lossless",
  LIMIT,
  async ({ name, format }, { expect }) => {
    const original = await noiseSound(name, 1);
    const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options: { format } });
    const [sound, before] = await Promise.all([
      readSound(output.path, STEREO),
      recallSound(original, STEREO),
    ]);
    expect(Math.abs(sound.duration - before.duration)).toBeLessThan(0.03);
    for (const echo of compareSound(sound, before, 0.01)) {
      expect(echo.correlation).toBeGreaterThan(0.9999);
      expect(echo.lag).toBe(0);
    }
  },
);

test.concurrent("copies the audio of a video to aac", LIMIT, async ({ expect }) => {
  const original = await noiseClip(1);
  const output = await rig.door.encode({
    input: rig.serve(original),
    kind: "audio",
    options: { format: "aac" },
  });
  const [sound, before] = await Promise.all([readSound(output.path, STEREO), recallSound(original, STEREO)]);
  // ADTS cannot signal that the first frame is padding.
  for (const echo of compareSound(sound, before, 0.03)) expect(echo.correlation).toBeGreaterThan(0.999);
});
