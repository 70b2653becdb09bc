import { appendFile, copyFile, readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { canJoinByCopy } from "../../src/media/features/concat-plan.ts";
import type { Source } from "../../src/media/source.ts";
import { readCopyJoin } from "../../src/mux/join-mp4.ts";
import { resetsDecoder } from "../../src/probe/codec-headers.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { runNative } from "../judge/native.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { levelOf, readSound } from "../judge/sound.ts";
import { bytesReader } from "../probe/probe-file.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const H264 = "-c:v libx264 -preset veryfast -crf 6 -pix_fmt yuv420p".split(" ");
const AAC = "-c:a aac -b:a 128k".split(" ");

interface Clip {
  frames: number;
  rate?: string;
  size?: string;
  step: number;
  hertz?: number;
  /** Seconds of sound. */
  seconds?: number;
  format?: string;
  more?: string[];
}

// Gray pictures, of which each is lighter than the one before by `step`, and a tone.
function clip({ frames, step, hertz, seconds = 0, ...facts }: Clip): Promise<string> {
  const { rate = "25", size = "160x90", format = "mp4", more = H264 } = facts;
  const gray = `format=yuv420p,geq=lum='40+${step}*N':cb=128:cr=128`;
  return makeClip(format, [
    ...["-f", "lavfi", "-i", `color=black:size=${size}:rate=${rate},trim=end_frame=${frames},${gray}`],
    ...(hertz ? ["-f", "lavfi", "-i", `sine=f=${hertz}:sample_rate=48000:duration=${seconds}`] : []),
    ...[...more, ...(hertz ? AAC : [])],
  ]);
}

async function join(paths: readonly string[], options: object = {}) {
  const [input = "", ...rest] = paths.map((path) => rig.serve(path));
  const concat = rest.map((url) => ({ url }));
  return rig.door.encode({ input, kind: "video", options: { ...options, concat } });
}

test("parts that match are copied, and their sound follows without a gap", LIMIT, async () => {
  const parts = [
    await clip({ frames: 25, step: 7, hertz: 440, seconds: 1 }),
    // The sound ends 17 ms after the pictures, less than half of one.
    await clip({ frames: 20, step: 10, hertz: 1500, seconds: 0.817 }),
    await clip({ frames: 10, step: 20, hertz: 440, seconds: 0.4 }),
  ];
  const { path, task } = await join(parts);
  expect(task.steps[2]?.output).toMatchObject({
    encoder: "light",
    reason: "The pictures are copied; only the sound is encoded.",
    counts: { pictures: { source: 55, output: 55 } },
  });
  expect(await packetsOf(path)).toEqual((await Promise.all(parts.map(packetsOf))).flat());
  const { picture, sound, duration } = await readFacts(path);
  expect(picture?.times).toEqual(Array.from({ length: 55 }, (_, at) => Number((at / 25).toFixed(6))));
  expect([duration, sound?.codec, sound?.sample_rate]).toEqual([2.2, "aac", 48_000]);
  await expectSteps(path, [...ramp(25, 7), ...ramp(20, 10), ...ramp(10, 20)]);
  const heard = await readSound(path, { channels: 1 });
  const [samples = new Float32Array()] = heard.channels;
  const between = (from: number, to: number) => samples.subarray(from * 48_000, to * 48_000);
  expect(pitch(between(0.05, 0.98))).toBeCloseTo(440, -1);
  expect(pitch(between(1.02, 1.78))).toBeCloseTo(1500, -1);
  expect(pitch(between(1.82, 2.18))).toBeCloseTo(440, -1);
  for (let at = 0.05; at < 2.15; at += 0.02)
    expect(levelOf(between(at, at + 0.02)), `${at}`).toBeGreaterThan(-25);
});

test("the last picture stays while its sound plays on, and late pictures stay late", LIMIT, async () => {
  const long = await clip({ frames: 25, step: 7, hertz: 440, seconds: 1.5 });
  const source = await clip({ frames: 20, step: 10, hertz: 1500, seconds: 1 });
  const args = ["-itsoffset", "0.2", "-i", source, "-i", source, "-map", "0:v", "-map", "1:a", "-c", "copy"];
  const late = await makeClip("mov", args);
  const { path, task } = await join([long, late], { codec: "h264" });
  expect(task.steps[2]?.output).toMatchObject({ counts: { pictures: { output: 45 } } });
  const { picture } = await readFacts(path);
  const at = (frames: number, from: number) =>
    Array.from({ length: frames }, (_, frame) => Number((from + frame / 25).toFixed(6)));
  expect(picture?.times).toEqual([...at(25, 0), ...at(20, 1.52 + 0.2)]);
  await expectSteps(path, [...ramp(25, 7), ...ramp(20, 10)]);
  const heard = await readSound(path, { channels: 1 });
  const between = (from: number, to: number) =>
    (heard.channels[0] ?? new Float32Array()).subarray(from * 48_000, to * 48_000);
  expect(pitch(between(0.05, 1.45))).toBeCloseTo(440, -1);
  expect(pitch(between(1.55, 2.45))).toBeCloseTo(1500, -1);
});

test("H.265 from MP4 and MOV is copied into a MOV, beside sound by a native encoder", LIMIT, async () => {
  const h265 = "-c:v libx265 -preset ultrafast -crf 10 -pix_fmt yuv420p -x265-params log-level=none".split(
    " ",
  );
  const first = await clip({
    frames: 10,
    step: 7,
    hertz: 440,
    seconds: 0.4,
    more: [...h265, "-tag:v", "hvc1"],
  });
  const second = await clip({ frames: 15, step: 10, format: "mov", more: h265 });
  // More than the light encoder holds.
  const large = `${first}.large.mp4`;
  await copyFile(first, large);
  const filler = Buffer.alloc(41 * 2 ** 20);
  filler.writeUInt32BE(filler.length);
  filler.write("free", 4);
  await appendFile(large, filler);
  const { path, task } = await join([large, second], { codec: "h265", format: "mov" });
  expect(task.steps[2]?.output).toMatchObject({
    encoder: "native",
    reason: "The pictures are copied; only the sound is encoded.",
    counts: { pictures: { source: 25, output: 25 }, sound: { source: 0.4 } },
  });
  expect(await packetsOf(path)).toEqual([...(await packetsOf(first)), ...(await packetsOf(second))]);
  const { picture, format, sound } = await readFacts(path);
  expect([format.split(",")[0], picture?.tag, picture?.times.length, sound?.codec]).toEqual([
    "mov",
    "hvc1",
    25,
    "aac",
  ]);
  await expectSteps(path, [...ramp(10, 7), ...ramp(15, 10)]);
  const heard = await readSound(path, { channels: 1 });
  const [samples = new Float32Array()] = heard.channels;
  expect(pitch(samples.subarray(2400, 18_000))).toBeCloseTo(440, -1);
  expect(levelOf(samples.subarray(24_000, 45_600))).toBeLessThan(-60);
});

test("a size of the file, a width, and sound other than AAC have matching parts encoded", () => {
  const source = {
    ...{ object: "source", url: "https://example.com/a.mp4", kind: "video", format: "mp4", duration: 1 },
    ...{ width: 64, height: 64, codecs: { video: "h264", audio: null }, pixel_format: "yuv420p" },
  } satisfies Source as Source;
  const asks = (options: object) =>
    canJoinByCopy(source, { ...options, concat: [{ url: source.url }] }, [source]);
  expect([asks({}), asks({ volume: 2 }), asks({ target_size: 100_000 }), asks({ width: 32 })]).toEqual([
    ...[true, true, false, false],
  ]);
  const sounds = [{ audio_codec: "aac" }, { audio_codec: "opus" }, { audio_codec: "opus", mute: true }];
  expect(sounds.map(asks)).toEqual([true, false, true]);
});

test("a copy that is asked for encodes nothing", LIMIT, async () => {
  const parts = [
    await clip({ frames: 25, step: 7, hertz: 440, seconds: 1 }),
    await clip({ frames: 20, step: 10 }),
  ];
  const { path, task } = await join(parts, { mode: "copy", mute: true });
  const { output } = task.steps[2] ?? {};
  expect(output).toMatchObject({ encoder: "copy", reason: "Copied without re-encoding.", duration: 1.8 });
  expect(await packetsOf(path)).toEqual((await Promise.all(parts.map(packetsOf))).flat());
});

test.for<{ name: string; make: () => Promise<string>[]; options: object; why: string }>([
  {
    name: "parts of another size",
    make: () => [clip({ frames: 10, step: 7 }), clip({ frames: 10, step: 7, size: "320x180" })],
    options: { mute: true },
    why: "concat.0 was encoded differently from the input.",
  },
  {
    name: "a part that hides pictures",
    make: () => [clip({ frames: 10, step: 7 }), cutClip()],
    options: {},
    why: "concat.0 hides some of its pictures.",
  },
  {
    name: "WebM",
    make: () => [
      clip({ frames: 10, step: 7, format: "webm", more: ["-c:v", "libvpx-vp9"] }),
      clip({ frames: 10, step: 7 }),
    ],
    options: {},
    why: "joined videos that are copied need an MP4 or MOV.",
  },
  {
    name: "sound",
    make: () => [clip({ frames: 10, step: 7, hertz: 440, seconds: 0.4 }), clip({ frames: 10, step: 7 })],
    options: {},
    why: "leave out mode to encode the sound only, or set mute.",
  },
])("a copy of $name is refused with the reason", LIMIT, async ({ make, options, why }) => {
  const [input = "", ...rest] = (await Promise.all(make())).map((path) => rig.serve(path));
  const concat = rest.map((url) => ({ url }));
  const task = await rig.door.runTask({
    input,
    kind: "video",
    options: { ...options, mode: "copy", concat },
  });
  expect(task).toMatchObject({ status: "failed", error: { kind: "invalid_options" } });
  expect(task.error?.message).toMatch(/^options\.mode cannot be "copy": /);
  expect(task.error?.message).toContain(why);
});

test("a part whose last picture lasts no time is not joined: the next would begin with it", async () => {
  const even = await clip({ frames: 10, step: 7, more: [...H264, "-bf", "0"] });
  const late = ["-c", "copy", "-bsf:v", "setts=ts=TS+512*eq(N\\,9)"];
  const bytes = await readFile(await makeClip("mp4", ["-i", even, ...late]));
  bytes.write("free", bytes.indexOf("edts"));
  const joint = () => readCopyJoin([bytesReader(bytes), bytesReader(bytes)]);
  expect(await joint()).toMatchObject({ parts: [{ pictures: 10, seconds: 0.44 }, { pictures: 10 }] });
  // Runs of eight pictures of 512 ticks, one of 1024, and the last.
  const runs = bytes.indexOf("stts") + 8;
  const numbers = [0, 1, 2, 3, 4, 5, 6].map((at) => bytes.readUInt32BE(runs + at * 4));
  expect(numbers).toEqual([3, 8, 512, 1, 1024, 1, 512]);
  bytes.writeUInt32BE(0, runs + 24);
  expect(await joint()).toEqual({ fault: "cut", input: 0 });
});

test("only a picture at which a decoder discards all earlier ones starts a part", async () => {
  const record = Uint8Array.of(1, 100, 0, 10, 255);
  const unit = (...types: number[]) => Uint8Array.from(types.flatMap((type) => [0, 0, 0, 2, type, 0]));
  expect(resetsDecoder(unit(9, 6, 0x65), "avc", record)).toBe(true);
  // A recovery point of an open group.
  expect(resetsDecoder(unit(9, 6, 0x41), "avc", record)).toBe(false);
  const h265 = new Uint8Array(23).fill(255);
  expect(resetsDecoder(unit(70, 19 << 1), "hevc", h265)).toBe(true);
  expect(resetsDecoder(unit(70, 21 << 1), "hevc", h265)).toBe(false);
});

// Cuts between keyframes with ffmpeg, whose edit list hides the pictures before the cut.
async function cutClip(): Promise<string> {
  const whole = await clip({ frames: 20, step: 7 });
  return makeClip("mp4", ["-ss", "0.4", "-i", whole, "-c", "copy"]);
}

async function expectSteps(path: string, expected: readonly number[]): Promise<void> {
  const seen = await steps(path);
  expect(seen).toHaveLength(expected.length);
  for (const [at, level] of expected.entries())
    expect(Math.abs((seen[at] ?? 0) - level), `${at}`).toBeLessThan(4);
}

// The luma of every picture in the middle.
async function steps(path: string): Promise<number[]> {
  const { output } = await runNative([
    ...["-i", path, "-vf", "crop=2:2:80:44,format=yuv420p", "-fps_mode", "passthrough"],
    ...["-f", "rawvideo", "-"],
  ]);
  return [...output].filter((_, at) => at % 6 === 0);
}

function ramp(frames: number, step: number): number[] {
  return Array.from({ length: frames }, (_, at) => 40 + step * at);
}

// The checksum of every packet of pictures.
async function packetsOf(path: string): Promise<string[]> {
  const { output } = await runNative([
    "-i",
    path,
    "-map",
    "0:v",
    "-c",
    "copy",
    "-f",
    "framehash",
    "-hash",
    "md5",
    "-",
  ]);
  const lines = new TextDecoder()
    .decode(output)
    .split("\n")
    .filter((line) => /^\d/.test(line));
  return lines.map((line) => line.split(",").at(-1)?.trim() ?? "");
}

// Hertz, from the number of times that the sound crosses zero.
function pitch(samples: Float32Array, sample_rate = 48_000): number {
  let crossings = 0;
  for (let at = 1; at < samples.length; at++) {
    if ((samples[at] ?? 0) < 0 !== (samples[at - 1] ?? 0) < 0) crossings++;
  }
  return (crossings * sample_rate) / (2 * samples.length);
}
