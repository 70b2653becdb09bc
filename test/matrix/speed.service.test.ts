import { afterAll, beforeAll, expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";
import { measureLoudness } from "../judge/loudness.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { readSound, recallSound, type Sound } from "../judge/sound.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const TONE = 440;
const SECONDS = 4;
const FPS = 25;

/** A video whose tone of one pitch is loud for a quarter of each second; late sound starts at 0.6 s. */
function beatClip(late = false): Promise<string> {
  const beats = `sine=f=${TONE}:sample_rate=48000:duration=${late ? 3.4 : SECONDS},volume='if(lt(mod(t,1),0.25),6,1)':eval=frame`;
  return makeClip("mp4", [
    ...["-f", "lavfi", "-i", `testsrc2=size=160x90:rate=${FPS}:duration=${SECONDS}`],
    ...[...(late ? ["-itsoffset", "0.6"] : []), "-f", "lavfi", "-i", beats],
    ..."-c:v libx264 -preset veryfast -crf 8 -pix_fmt yuv420p -g 12 -c:a aac -b:a 160k".split(" "),
  ]);
}

const AS = { channels: 1, sample_rate: 8000 };
const WINDOW = 80;

/** Returns the seconds at which the beats start. */
function onsetsOf({ channels: [samples = new Float32Array(0)] }: Sound): number[] {
  const loud = Array.from({ length: Math.floor(samples.length / WINDOW) }, (_, index) => {
    const part = samples.subarray(index * WINDOW, (index + 1) * WINDOW);
    return Math.max(...part.map(Math.abs));
  });
  const most = Math.max(...loud);
  const starts = loud.flatMap((peak, index) => {
    const before = loud.slice(Math.max(0, index - 2), index);
    return peak > most / 2 && before.every((each) => each <= most / 2) ? [index] : [];
  });
  return starts.map((index) => (index * WINDOW) / AS.sample_rate);
}

/** Returns the hertz of a lone tone, from how often it crosses zero. */
function pitchOf({ channels: [samples = new Float32Array(0)] }: Sound): number {
  const middle = samples.subarray(samples.length * 0.2, samples.length * 0.9);
  let crossings = 0;
  for (let at = 1; at < middle.length; at++)
    if ((middle[at - 1] ?? 0) < 0 !== (middle[at] ?? 0) < 0) crossings++;
  return (crossings / 2 / middle.length) * AS.sample_rate;
}

const FROM_ZERO = "aresample=async=1:first_pts=0";

/** Asserts that a file's sound is the clip's at a speed: as long, with each beat where it belongs, and of the same pitch. */
async function expectPace(output: string, clip: string, speed: number, [start, end] = [0, SECONDS]) {
  const [got, own] = await Promise.all([
    readSound(output, { ...AS, after: ["-af", FROM_ZERO] }),
    recallSound(clip, { ...AS, after: ["-af", `${FROM_ZERO},atrim=${start}:${end},asetpts=PTS-STARTPTS`] }),
  ]);
  expect(Math.abs(got.duration - (end - start) / speed)).toBeLessThan(0.07);
  const [beats, expected] = [onsetsOf(got), onsetsOf(own).map((time) => time / speed)];
  expect(beats).toHaveLength(expected.length);
  // ITU-R BT.1359 calls 45 ms undetectable; the clip's beats are known to 10 ms.
  for (const [index, time] of beats.entries()) {
    expect(Math.abs(time - (expected[index] ?? 0))).toBeLessThan(0.045 + 0.01 / speed);
  }
  expect(Math.abs(pitchOf(got) / TONE - 1)).toBeLessThan(0.03);
}

const even = "select=not(mod(n\\,2))";
const VIDEOS = [
  { options: { speed: 2, format: "mp4" }, frames: 50, rate: 25, like: even },
  { options: { speed: 2, format: "mp4", width: 80 }, late: true, frames: 50, rate: 25 },
  {
    options: { speed: 4, fps: 12.5, format: "webm" },
    frames: 13,
    rate: 12.5,
    like: "select=eq(mod(n\\,8)\\,3)",
  },
  { options: { speed: 0.5, format: "webm" }, frames: 100, rate: 12.5, like: "null" },
  { options: { speed: 0.25, end: 1, format: "mov" }, frames: 25, rate: 6.25, like: "trim=end_frame=25" },
  // H.265 is the native encoder's.
  {
    ...{ options: { speed: 0.8, codec: "h265", start: 1, end: 3.4 }, frames: 60, rate: 20 },
    like: "trim=start_frame=25:end_frame=85",
  },
] as const;

test.concurrent.for(VIDEOS)("a video with $options", LIMIT, async (row, { expect }) => {
  const { options, frames, rate } = row;
  const clip = await beatClip("late" in row);
  const highQuality = { ...options, quality: "high" };
  const output = await rig.door.encode({ input: rig.serve(clip), kind: "video", options: highQuality });
  const { speed, start = 0, end = SECONDS } = options as { speed: number; start?: number; end?: number };
  const { picture, duration } = await readFacts(output.path);
  const times = picture?.times ?? [];
  expect(times).toHaveLength(frames);
  // A WebM begins with the priming of its sound.
  for (const [index, time] of times.entries()) {
    expect(Math.abs(time - (times[0] ?? 0) - index / rate)).toBeLessThan(0.0015);
  }
  const seconds = (end - start) / speed;
  expect(Math.abs(duration - seconds)).toBeLessThan(0.1);
  if ("like" in row) {
    const { worst } = await measureLikeness(output.path, clip, { filter: row.like });
    expect(worst).toBeGreaterThan(LIKE - 0.02);
  }
  await expectPace(output.path, clip, speed, [start, end]);
  const stepOutput = output.task.steps.find(({ kind }) => kind === "video")?.output;
  const counted = Math.round((end - start) * FPS);
  expect(stepOutput).toMatchObject({ counts: { pictures: { source: counted, output: frames } } });
});

const SOUNDS = [
  { speed: 4, format: "mp3" },
  { speed: 1.5, format: "flac", start: 0.5 },
  { speed: 0.25, format: "opus", end: 2.5 },
] as const;

test.concurrent.for(SOUNDS)("sound with $speed in $format", LIMIT, async (options) => {
  const clip = await beatClip();
  const output = await rig.door.encode({ input: rig.serve(clip), kind: "audio", options });
  const { start = 0, end = SECONDS } = options as { start?: number; end?: number };
  await expectPace(output.path, clip, options.speed, [start, end]);
});

test.concurrent("fast sound is normalized and fades out at its own end", LIMIT, async ({ expect }) => {
  const input = rig.serve(await beatClip());
  const options = { format: "wav", speed: 1.25, normalize: true, target_lufs: -20, fade_out: 0.2 };
  const { path } = await rig.door.encode({ input, kind: "audio", options });
  expect(Math.abs((await measureLoudness(path)).integrated + 20)).toBeLessThan(0.5);
  const { channels } = await readSound(path, AS);
  const [samples = new Float32Array(0)] = channels;
  const peak = (from: number, to: number) =>
    Math.max(...samples.subarray(samples.length - from, samples.length - to).map(Math.abs));
  expect(peak(80, 0) / peak(3200, 2400)).toBeLessThan(0.1);
});

test("a file of a bounded size plays faster", LIMIT, async () => {
  const input = rig.serve(await beatClip());
  const options = { speed: 2, target_size: 60_000 };
  const { path } = await rig.door.encode({ input, kind: "video", options });
  const { bytes, duration } = await readFacts(path);
  expect(bytes).toBeLessThan(60_000);
  expect(Math.abs(duration - 2)).toBeLessThan(0.1);
});

test.for([0, 0.2, 4.1, "2"])("speed %o is refused", async (speed) => {
  const body = { input: "https://example.com/a.mp4", kind: "video", options: { speed } };
  const { status, body: answer } = await rig.door.request("POST", "/tasks", body);
  expect([status, answer]).toMatchObject([
    400,
    { message: "options.speed must be a factor from 0.25 to 4." },
  ]);
});
