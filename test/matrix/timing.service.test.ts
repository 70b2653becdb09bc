import { afterAll, beforeAll, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { lateSoundClip, noiseClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { note } from "../judge/figures.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { ALIKE_SOUND, LIKE } from "../judge/limits.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { compareSound, readSound, recallSound } from "../judge/sound.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const FORMAT_NAMES = ["mp4", "mov", "webm"] as const;

// The pictures are picked before they are muxed, so every rate goes to one format.
const SPEEDS = { mp4: [1, 10, 12.5, 29.97, 50, 60], mov: [29.97], webm: [12.5, 29.97, 60] } as const;
const RATES = FORMAT_NAMES.flatMap((format) =>
  SPEEDS[format].map((fps) => ({ format, fps, name: "mp4_silent" as const })),
);
const UNEVEN = FORMAT_NAMES.map((format) => ({ format, fps: 25, name: "mp4_vfr" as const }));

test.concurrent.for([...RATES, ...UNEVEN])(
  "$name to $format at $fps frames per second",
  LIMIT,
  async ({ format, fps, name }, { expect }) => {
    const original = await clip(name);
    const input = rig.serve(original);
    const output = await rig.door.encode({ input, kind: "video", options: { format, fps, quality: "high" } });
    const { picture } = await readFacts(output.path);
    const times = picture?.times ?? [];
    expect(Math.abs(times.length - 2 * fps)).toBeLessThanOrEqual(1);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const gap of gaps) expect(Math.abs(gap - 1 / fps)).toBeLessThanOrEqual(0.0011);
    expect(Math.abs((picture?.duration ?? 0) - 2)).toBeLessThanOrEqual(1 / fps + 0.001);
    // Halving the rate must keep every second frame.
    if (fps === 12.5) {
      const filter = "select=not(mod(n\\,2))";
      const like = await measureLikeness(output.path, original, { filter });
      expect(like.mean).toBeGreaterThan(LIKE);
    }
  },
);

const CUTS = [
  { start: 0.52 },
  { end: 0.76 },
  { start: 0.52, end: 1.48 },
  // Just before a keyframe of the source (every 12 frames), and exactly on one.
  { start: 0.44, end: 1 },
  { start: 0.48, end: 1 },
  { start: 1.4, end: 99 },
];
// The pictures are picked before they are muxed, so the other formats have only both edges, an end, and a start on a keyframe.
const CUT_CASES = FORMAT_NAMES.flatMap((format) =>
  CUTS.filter(
    (_, index) => format === "mp4" || index === 1 || index === 4 || (format === "webm" && index === 2),
  ).map((cut) => ({ format, cut })),
);

test.concurrent.for(CUT_CASES)("trims $format by $cut", LIMIT, async ({ format, cut }, { expect, task }) => {
  const original = await noiseClip(2);
  const input = rig.serve(original);
  const options = { format, quality: "high", ...cut };
  const output = await rig.door.encode({ input, kind: "video", options });
  const { start = 0, end = 2 } = cut;
  const first = Math.round(start * 25);
  const last = Math.round(Math.min(end, 2) * 25);
  const { picture } = await readFacts(output.path);
  expect(picture?.times).toHaveLength(last - first);
  expect(Math.abs((picture?.duration ?? 0) - (last - first) / 25)).toBeLessThanOrEqual(0.002);
  const filter = `trim=start_frame=${first}:end_frame=${last}`;
  const like = await measureLikeness(output.path, original, { filter });
  note(task, { ssim: like.mean, worst: like.worst });
  expect(like.worst).toBeGreaterThan(LIKE - 0.02);
  const as = { channels: 2, sample_rate: 8000 };
  const [got, expected] = await Promise.all([
    readSound(output.path, as),
    recallSound(original, {
      ...as,
      after: ["-af", `atrim=${start}:${Math.min(end, 2)},asetpts=PTS-STARTPTS`],
    }),
  ]);
  expect(Math.abs(got.duration - expected.duration)).toBeLessThanOrEqual(0.05);
  for (const echo of compareSound(got, expected)) {
    note(task, { ...echo });
    expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    // Audio and video stay in sync within 22 ms, which ITU-R BT.1359 calls undetectable.
    expect(Math.abs(echo.lag)).toBeLessThanOrEqual(0.022);
  }
});

// Fills with silence up to the first sample, as a player does.
const FROM_ZERO = ["-af", "aresample=async=1:first_pts=0"];

test.concurrent.for(FORMAT_NAMES)(
  "sound that starts late stays late in %s",
  LIMIT,
  async (format, { expect }) => {
    const original = await lateSoundClip(2);
    for (const options of [
      { format, quality: "high" },
      { format },
      { format, quality: "high", start: 0.2 },
    ]) {
      const output = await rig.door.encode({ input: rig.serve(original), kind: "video", options });
      const as = { channels: 2, sample_rate: 8000 };
      const cut = "start" in options ? `,atrim=${options.start},asetpts=PTS-STARTPTS` : "";
      const [got, expected] = await Promise.all([
        readSound(output.path, { ...as, after: FROM_ZERO }),
        recallSound(original, { ...as, after: ["-af", `${FROM_ZERO[1]}${cut}`] }),
      ]);
      for (const echo of compareSound(got, expected)) {
        expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
        expect(Math.abs(echo.lag), JSON.stringify(options)).toBeLessThanOrEqual(0.022);
      }
    }
  },
);

test.concurrent.for(FORMAT_NAMES)(
  "a span shorter than a frame yields one frame in %s",
  LIMIT,
  async (format, { expect }) => {
    const input = rig.serve(await clip("mp4_silent"));
    const options = { format, fps: 1, start: 0.4, end: 0.6 };
    const output = await rig.door.encode({ input, kind: "video", options });
    expect((await readFacts(output.path)).picture?.times).toHaveLength(1);
  },
);

test.concurrent(
  "a start beyond the end fails with an error that names the option",
  LIMIT,
  async ({ expect }) => {
    const input = rig.serve(await clip("mp4", { seconds: 1 }));
    const task = await rig.door.runTask({ input, kind: "video", options: { start: 5 } });
    expect(task).toMatchObject({
      status: "failed",
      output: null,
      error: { kind: "invalid_options", retryable: false },
    });
    expect(task.error?.message).toContain("options.start");
  },
);
