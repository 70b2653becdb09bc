import { afterAll, beforeAll, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { note } from "../judge/figures.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { ALIKE_SOUND } from "../judge/limits.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { compareSound, readSound, type Sound } from "../judge/sound.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const SECONDS = 100;
const FRAMES = SECONDS * 12.5;

// Long enough to be encoded in several chunks and stitched; 96x54 at 12.5 fps.
function longClip(): Promise<string> {
  const noise = (seed: number) =>
    `anoisesrc=seed=${seed}:color=pink:amplitude=0.5:sample_rate=48000:duration=${SECONDS},lowpass=f=3000`;
  return makeClip("mp4", [
    ...["-f", "lavfi", "-i", `testsrc2=size=96x54:rate=25/2:duration=${SECONDS}`],
    ...["-f", "lavfi", "-i", noise(1), "-f", "lavfi", "-i", noise(2)],
    ...["-filter_complex", "[1:a][2:a]amerge=inputs=2[sound]", "-map", "0:v", "-map", "[sound]"],
    ..."-c:v libx264 -preset veryfast -crf 14 -pix_fmt yuv420p -g 70 -c:a aac -b:a 128k".split(" "),
  ]);
}

test.concurrent.for(["mp4", "webm"] as const)(
  "a clip of several chunks in %s has no seams",
  { timeout: 300_000 },
  async (format, { expect, task }) => {
    const original = await longClip();
    const options = { format, quality: "high", start: 0.8 };
    const { task: run, path } = await rig.door.encode(
      { input: rig.serve(original), kind: "video", options },
      240,
    );
    const { picture } = await readFacts(path);
    const times = picture?.times ?? [];
    expect(times).toHaveLength(FRAMES - 10);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const gap of gaps) expect(Math.abs(gap - 0.08)).toBeLessThanOrEqual(0.0011);
    const like = await measureLikeness(path, original, { filter: "trim=start_frame=10" });
    note(task, {
      ssim: like.mean,
      worst: like.worst,
      seconds: ((run.finished_at ?? 0) - run.created_at) / 1000,
    });
    // A frame lost or doubled at a seam would lower the score of every frame after it.
    expect(like.worst).toBeGreaterThan(0.9);
    const as = { channels: 2, sample_rate: 8000 };
    const [got, expected] = await Promise.all([
      readSound(path, as),
      readSound(original, { ...as, after: ["-af", "atrim=0.8,asetpts=PTS-STARTPTS"] }),
    ]);
    expect(Math.abs(got.duration - expected.duration)).toBeLessThanOrEqual(0.05);
    // Drift would show as lag near the end.
    for (const second of [0, 30, 59, 61, 90, 97]) {
      for (const echo of compareSound(secondOf(got, second), secondOf(expected, second))) {
        expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
        expect(Math.abs(echo.lag)).toBeLessThanOrEqual(0.022);
      }
    }
  },
);

function secondOf(sound: Sound, second: number): Sound {
  const cut = (samples: Float32Array) =>
    samples.subarray(second * sound.sample_rate, (second + 1) * sound.sample_rate);
  return { ...sound, channels: sound.channels.map(cut), duration: 1 };
}
