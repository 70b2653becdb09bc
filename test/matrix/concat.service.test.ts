import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createPlan, listDropped } from "../../src/media/index.ts";
import type { Source } from "../../src/media/source.ts";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { JOINED_NUMBERS, joinedRates, numbersOf } from "../integrity/joined-rates.ts";
import { readFrames } from "../integrity/read-frames.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLoudness } from "../judge/loudness.ts";
import { runNative } from "../judge/native.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { levelOf, readSound } from "../judge/sound.ts";

let rig: Rig;
let first: string;
let tall: string;
let silent: string;
let tone: string;
beforeAll(async () => {
  rig = await openRig();
  const h264 = "-c:v libx264 -preset veryfast -crf 6 -pix_fmt yuv420p".split(" ");
  first = await makeClip("mp4", [
    ...pictures("160x90", "25", 25, 7),
    ...["-f", "lavfi", "-i", "sine=f=440:sample_rate=48000:duration=1"],
    ...[...h264, "-c:a", "aac"],
  ]);
  tall = await makeClip("webm", [
    ...pictures("90x160", "25/2", 8, 20),
    ...["-f", "lavfi", "-i", "sine=f=1500:sample_rate=44100:duration=0.64"],
    ..."-c:v libvpx -crf 4 -b:v 2M -pix_fmt yuv420p -c:a libopus -ac 2".split(" "),
  ]);
  silent = await makeClip("mp4", [...pictures("320x180", "30000/1001", 30, 6), ...h264]);
  tone = await makeClip("wav", ["-f", "lavfi", "-i", "sine=f=440:duration=1"]);
});
afterAll(() => rig?.close());

// Gray pictures, of which each is lighter than the one before by `step`.
function pictures(size: string, rate: string, count: number, step: number): string[] {
  const gray = `format=yuv420p,geq=lum='40+${step}*N':cb=128:cr=128`;
  return ["-f", "lavfi", "-i", `color=black:size=${size}:rate=${rate},trim=end_frame=${count},${gray}`];
}

const LIMIT = { timeout: 240_000 };

test(
  "mixes loud 5.1 down to one level, below clipping, alone and joined, by every encoder",
  LIMIT,
  async () => {
    const voices = Array.from({ length: 6 }, () => "0.95*sin(2*PI*440*t)").join("|");
    const loud = await makeClip("mp4", [
      ...pictures("160x90", "25", 50, 3),
      ...["-f", "lavfi", "-i", `aevalsrc=${voices}:c=5.1:d=2:s=48000`, "-c:v", "libx264"],
      ...["-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "600k"],
    ]);
    const levels: number[] = [];
    for (const codec of ["h264", "h265"])
      for (const joined of [{}, { concat: [{ url: rig.serve(loud) }] }]) {
        const options = { codec, width: 80, height: 44, audio_bitrate: 192_000, ...joined };
        const { path, task } = await rig.door.encode({ input: rig.serve(loud), kind: "video", options });
        expect(task.steps[2]?.output?.encoder).toBe(codec === "h264" ? "light" : "native");
        const { integrated, peak } = await measureLoudness(path);
        levels.push(integrated);
        expect(peak).toBeLessThan(0.5);
      }
    expect(Math.max(...levels) - Math.min(...levels)).toBeLessThan(0.7);
  },
);

test.for([
  { encoder: "light", options: {}, size: [160, 90] },
  { encoder: "native", options: { codec: "h265", width: 80, height: 44 }, size: [80, 44] },
] as const)("joins three videos by $encoder", LIMIT, async ({ encoder, options, size: [width, height] }) => {
  const concat = [tall, silent].map((path) => ({ url: rig.serve(path) }));
  const { path, task } = await rig.door.encode({
    ...{
      input: rig.serve(first),
      kind: "video",
      options: { quality: "very_high", fps: 25, ...options, concat },
    },
  });
  const frames = 25 + 16 + 25;
  expect(task.steps[2]?.output).toMatchObject({
    encoder,
    counts: { pictures: { source: 25 + 8 + 30, output: frames } },
  });
  const facts = await readFacts(path);
  expect(facts.picture).toMatchObject({ width, height, fps: 25 });
  expect(facts.picture?.times).toHaveLength(frames);
  expect(facts.duration).toBeCloseTo(frames / 25, 1);
  expect(facts.sound).toMatchObject({ codec: "aac", sample_rate: 48_000 });

  const middle = await lightness(path, width / 2, height / 2);
  const expected = [
    ...Array.from({ length: 25 }, (_, at) => 40 + 7 * at),
    ...Array.from({ length: 16 }, (_, at) => 40 + 20 * Math.floor(at / 2)),
    ...Array.from({ length: 25 }, (_, at) => 40 + 6 * Math.round((at * 30) / 1.001 / 25)),
  ];
  for (const [at, level] of expected.entries()) {
    // Half a picture of another rate may be rounded either way.
    expect(Math.abs((middle[at] ?? 0) - level), `frame ${at}`).toBeLessThan(at < 41 ? 4 : 10);
  }
  const side = await lightness(path, 2, height / 2);
  expect(Math.abs((side[10] ?? 0) - 110)).toBeLessThan(4);
  for (const level of side.slice(25, 41)) expect(level).toBeLessThan(20);

  const { channels, sample_rate } = await readSound(path, { channels: 1 });
  const between = (from: number, to: number) =>
    (channels[0] ?? new Float32Array()).subarray(from * sample_rate, to * sample_rate);
  expect(pitch(between(0.1, 0.9))).toBeCloseTo(440, -1);
  expect(pitch(between(1.1, 1.55))).toBeCloseTo(1500, -1);
  expect(levelOf(between(1.7, 2.6))).toBeLessThan(-60);
});

test.for([
  { encoder: "light", options: {} },
  { encoder: "native", options: { codec: "h265" } },
] as const)(
  "a join by $encoder loses no picture of a variable or a higher frame rate",
  LIMIT,
  async (row) => {
    const [uneven, quick] = await joinedRates();
    const options = { quality: "high", ...row.options, concat: [{ url: rig.serve(quick) }] };
    const { path, task } = await rig.door.encode({ input: rig.serve(uneven), kind: "video", options });
    expect(task.steps[2]?.output).toMatchObject({ encoder: row.encoder, fps: 60 });
    expect(numbersOf(await readFrames(path))).toEqual(JOINED_NUMBERS);
  },
);

test.for([
  { encoder: "light", options: {} },
  { encoder: "native", options: { codec: "h265" } },
] as const)("the $encoder encoder joins ranges of three videos", LIMIT, async ({ encoder, ...row }) => {
  const concat = [
    { url: rig.serve(tall), start: 0.32, end: 0.56 },
    { url: rig.serve(silent), start: 0.5 },
  ];
  const options = { quality: "very_high", fps: 25, ...row.options, start: 0.2, end: 0.6, concat };
  const { path, task } = await rig.door.encode({ input: rig.serve(first), kind: "video", options });
  const frames = 10 + 6 + 13;
  expect(task.steps[2]?.output).toMatchObject({
    encoder,
    // The ranges of the second and the third begin during a picture.
    counts: { pictures: { source: 10 + 3 + 16, output: frames } },
  });
  const middle = await lightness(path, 80, 45);
  const expected = [
    ...Array.from({ length: 10 }, (_, at) => 40 + 7 * (5 + at)),
    ...Array.from({ length: 6 }, (_, at) => 40 + 20 * (4 + Math.floor(at / 2))),
    ...Array.from({ length: 13 }, (_, at) => 40 + 6 * Math.round(((0.5 + at / 25) * 30) / 1.001)),
  ];
  expect(middle).toHaveLength(frames);
  for (const [at, level] of expected.entries())
    expect(Math.abs((middle[at] ?? 0) - level), `frame ${at}`).toBeLessThan(at < 16 ? 4 : 10);
  const { channels, sample_rate } = await readSound(path, { channels: 1 });
  const [samples = new Float32Array()] = channels;
  const between = (from: number, to: number) => samples.subarray(from * sample_rate, to * sample_rate);
  expect(pitch(between(0.05, 0.36))).toBeCloseTo(440, -1);
  expect(pitch(between(0.44, 0.62))).toBeCloseTo(1500, -1);
  expect(levelOf(between(0.75, 1.1))).toBeLessThan(-60);
  expect(Math.abs(samples.length / sample_rate - frames / 25)).toBeLessThan(0.06);
});

test.for([
  { encoder: "light", options: {} },
  { encoder: "native", options: { codec: "h265" } },
] as const)(
  "the $encoder encoder cross-fades joined videos, and fades the output in and out",
  LIMIT,
  async ({ encoder, ...row }) => {
    const concat = [tall, first].map((path) => ({ url: rig.serve(path) }));
    const fades = { picture_fade_in: 0.2, picture_fade_out: 0.4 };
    const transition = { kind: "fade", seconds: 0.2 };
    const options = { quality: "very_high", ...row.options, ...fades, concat, transition };
    const { path, task } = await rig.door.encode({ input: rig.serve(first), kind: "video", options });
    const frames = 25 + 16 + 25 - 2 * 5;
    expect(task.steps[2]?.output).toMatchObject({
      encoder,
      counts: { pictures: { source: 25 + 8 + 25, output: frames } },
    });
    const middle = await lightness(path, 80, 45);
    expect(middle).toHaveLength(frames);
    const own = (at: number) => 40 + 7 * at;
    const other = (at: number) => 40 + 20 * Math.floor(at / 2);
    const mixed = (before: number, after: number, at: number) => before + ((after - before) * at) / 5;
    const expected = [
      ...Array.from({ length: 20 }, (_, at) => own(at)),
      ...Array.from({ length: 5 }, (_, at) => mixed(own(20 + at), other(at), at)),
      ...Array.from({ length: 6 }, (_, at) => other(5 + at)),
      ...Array.from({ length: 5 }, (_, at) => mixed(other(11 + at), own(at), at)),
      ...Array.from({ length: 20 }, (_, at) => own(5 + at)),
    ];
    const shares = expected.map((_, at) => Math.min(1, at / 5, (frames - at) / 10));
    for (const [at, level] of expected.entries())
      expect(Math.abs((middle[at] ?? 0) - 16 - (level - 16) * (shares[at] ?? 1)), `frame ${at}`).toBeLessThan(
        5,
      );
    const { channels, sample_rate } = await readSound(path, { channels: 1 });
    const [samples = new Float32Array()] = channels;
    const between = (from: number, to: number) => samples.subarray(from * sample_rate, to * sample_rate);
    expect(pitch(between(0.1, 0.75))).toBeCloseTo(440, -1);
    expect(pitch(between(1.02, 1.22))).toBeCloseTo(1500, -1);
    expect(pitch(between(1.5, 2.1))).toBeCloseTo(440, -1);
    // Two tones at half their volume are softer by up to 6 dB.
    const loudness = levelOf(between(0.3, 0.7));
    expect(Math.abs(levelOf(between(0.85, 0.95)) - loudness + 3)).toBeLessThan(3.5);
    expect(Math.abs(samples.length / sample_rate - frames / 25)).toBeLessThan(0.06);
  },
);

test.for([
  { format: "gif", encoder: "light" },
  { format: "avif", encoder: "native" },
] as const)(
  "the pictures of a $format animation fade in from black and out to black",
  LIMIT,
  async ({ format, encoder }) => {
    const options = { format, fps: 12.5, picture_fade_in: 0.4, picture_fade_out: 0.4, quality: "very_high" };
    const { path, task } = await rig.door.encode({ input: rig.serve(first), kind: "animation", options });
    expect(task.steps[2]?.output).toMatchObject({ encoder });
    const levels = await lightness(path, 80, 45);
    const expected = levels.map((_, at) => {
      const share = Math.min(1, (at * 0.08) / 0.4, Math.max(0, 1.04 - at * 0.08) / 0.4);
      return 16 + (40 + 14 * at - 16) * share;
    });
    for (const [at, level] of levels.entries())
      expect(Math.abs(level - (expected[at] ?? 0)), `frame ${at}: ${levels}`).toBeLessThan(12);
  },
);

test("a first video without sound is silent until the sound of the next", LIMIT, async () => {
  const options = { fps: 12.5, audio_codec: "opus", concat: [{ url: rig.serve(first) }] } as const;
  const { path } = await rig.door.encode({ input: rig.serve(silent), kind: "video", options });
  const { picture, sound } = await readFacts(path);
  expect([picture?.width, picture?.times.length, sound?.codec]).toEqual([320, 13 + 13, "opus"]);
  const { channels, sample_rate } = await readSound(path, { channels: 1 });
  const [samples = new Float32Array()] = channels;
  expect(levelOf(samples.subarray(0, sample_rate))).toBeLessThan(-60);
  expect(pitch(samples.subarray(1.1 * sample_rate, 1.9 * sample_rate))).toBeCloseTo(440, -1);
});

test("a part keeps its first picture where a tick of its clock is as long as one", LIMIT, async () => {
  const h264 = "-c:v libx264 -preset veryfast -crf 6 -pix_fmt yuv420p".split(" ");
  // The second begins after 28 1/3 of its own ticks.
  const opening = await makeClip("mp4", [...pictures("64x64", "30", 34, 5), ...h264]);
  const ticks = ["-video_track_timescale", "25"];
  const part = await makeClip("mp4", [...pictures("64x64", "25", 25, 7), ...h264, ...ticks]);
  const options = { quality: "very_high", concat: [{ url: rig.serve(part) }] } as const;
  const { path } = await rig.door.encode({ input: rig.serve(opening), kind: "video", options });
  const seen = (await lightness(path, 32, 32)).slice(34);
  expect(seen).toHaveLength(30);
  const steps = seen.map((level) => Math.round((level - 40) / 7));
  expect([...new Set(steps)]).toEqual(Array.from({ length: 25 }, (_, at) => at));
});

test("pictures do not wait in memory for sound that begins late", LIMIT, async () => {
  const late = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "color=gray:size=1280x720:rate=25:duration=4"],
    ...["-itsoffset", "3.5", "-f", "lavfi", "-i", "sine=f=440:sample_rate=48000:duration=0.5"],
    ..."-c:v libx264 -preset ultrafast -pix_fmt yuv420p -c:a aac".split(" "),
  ]);
  const options = { concat: [{ url: rig.serve(late) }] };
  const { path, task } = await rig.door.encode({ input: rig.serve(first), kind: "video", options });
  expect(task.steps[2]?.output).toMatchObject({ encoder: "light", counts: { pictures: { output: 125 } } });
  const { channels, sample_rate } = await readSound(path, { channels: 1 });
  const [samples = new Float32Array()] = channels;
  expect(levelOf(samples.subarray(1.2 * sample_rate, 4.4 * sample_rate))).toBeLessThan(-60);
  expect(pitch(samples.subarray(4.6 * sample_rate, 4.9 * sample_rate))).toBeCloseTo(440, -1);
});

test.for([{ fps: 25 }, { audio_bitrate: 96_000 }])(
  "sound that cannot be decoded is missed, where the rest is encoded or copied (%o)",
  LIMIT,
  async (options) => {
    const damaged = await withoutSound(first, 0.3, 0.7);
    const concat = [{ url: rig.serve(damaged) }];
    const task = await rig.door.runTask({
      input: rig.serve(first),
      kind: "video",
      options: { ...options, concat },
    });
    expect(task).toMatchObject({ status: "failed", error: { kind: "encode_incomplete" } });
    expect(task.error?.message).toMatch(
      /^The encode is incomplete: 0\.[34]\d* of [12](\.\d+)? s of sound are missing\.$/,
    );
  },
);

// Overwrites the packets of sound in a stretch of a file by what no decoder takes.
async function withoutSound(path: string, from: number, to: number): Promise<string> {
  const shown = ["-select_streams", "a:0", "-show_entries", "packet=pts_time,pos,size"];
  const { packets } = Packets.parse(await runFfprobe(path, shown));
  const bytes = await readFile(path);
  for (const { pts_time, pos, size } of packets) {
    if (pts_time >= from && pts_time < to) bytes.fill(0, pos, pos + size);
  }
  const damaged = `${path}.damaged.mp4`;
  await writeFile(damaged, bytes);
  return damaged;
}

const number = z.coerce.number();
const Packets = z.object({ packets: z.array(z.object({ pts_time: number, pos: number, size: number })) });

test("what is left out of the videos is listed", () => {
  const source = {
    ...{ object: "source", url: "https://example.com/a.mp4", kind: "video", format: "mp4", duration: 2 },
    ...{ width: 64, height: 64, fps: 25, codecs: { video: "h264", audio: null } },
    streams: [
      { index: 0, kind: "video", codec: "h264" },
      { index: 1, kind: "audio", codec: null },
      { index: 2, kind: "audio", codec: "aac", channels: 2, sample_rate: 48_000 },
      { index: 3, kind: "subtitle", codec: "mov_text" },
    ],
    chapters: [{ start: 0, end: 2, title: "One" }],
  } satisfies Source as Source;
  const url = "https://example.com/b.mp4";
  const options = { concat: [{ url }, { url }] };
  const lost = (extra: Source[], main = source) =>
    listDropped(createPlan(main, "video", options, { extra }), main);
  const rest = [
    { kind: "subtitle", index: 3, reason: "not_supported" },
    { kind: "chapters", reason: "not_supported" },
  ];
  const unknown = { kind: "audio", index: 1, reason: "not_supported" };
  // The extra inputs are not read yet.
  expect(lost([])).toEqual([unknown, ...rest]);
  const ofPart = [unknown, ...rest].map((each) => ({ ...each, part: 1 }));
  expect(lost([source])).toEqual([unknown, ...rest, ...ofPart]);
  const tagged = {
    ...{ ...source, chapters: undefined, audio: { channels: 6, sample_rate: 48_000 } },
    ...{ codecs: { video: "h264", audio: "ac3" }, tags: { title: "B", artist: "Both", location: "+48+16/" } },
    streams: [
      { index: 0, kind: "video", codec: "h264" },
      { index: 1, kind: "audio", codec: "ac3", language: "deu" },
      { index: 2, kind: "audio", codec: "aac", channels: 2, sample_rate: 48_000, language: "eng" },
      { index: 3, kind: "cover", codec: "mjpeg" },
    ],
  } satisfies Source as Source;
  const plain = { ...source, streams: [], chapters: undefined, tags: { title: "A", artist: "Both" } };
  expect(lost([plain, tagged], plain)).toEqual([
    { kind: "audio", index: 2, language: "eng", reason: "one_track", part: 2 },
    { kind: "cover", index: 3, reason: "not_supported", part: 2 },
    { kind: "channels", index: 1, reason: "downmixed", part: 2 },
    { kind: "tags", reason: "not_supported", part: 2 },
    { kind: "tags", reason: "private", part: 2 },
  ]);
  const silent = { ...source, streams: source.streams?.toSpliced(2, 1) ?? [] };
  expect(lost([source], silent)).toEqual([unknown, ...rest, ...ofPart]);
});

test("muted videos are joined without sound", LIMIT, async () => {
  const options = { mute: true, width: 64, concat: [{ url: rig.serve(tall) }] };
  const { path } = await rig.door.encode({ input: rig.serve(first), kind: "video", options });
  const { picture, sound } = await readFacts(path);
  expect([picture?.times.length, sound]).toEqual([25 + 16, null]);
});

test.for<{ name: string; file: () => string | null; kind: string; message: string }>([
  {
    name: "sound alone",
    file: () => tone,
    kind: "input_unsupported",
    message: "The file must be a video with pictures; it is wav with sound only.",
  },
  { name: "missing", file: () => null, kind: "input_not_found", message: "" },
])("a part that is $name fails the task by its name", LIMIT, async ({ file, kind, message }) => {
  const path = file();
  const url = path === null ? rig.origin.serve("/missing.mp4", { status: 404 }) : rig.serve(path);
  const concat = [{ url: rig.serve(tall) }, { url }];
  const task = await rig.door.runTask({ input: rig.serve(first), kind: "video", options: { concat } });
  expect(task).toMatchObject({ status: "failed", error: { kind } });
  expect(task.error?.message).toContain(`options.concat.1.url: ${message}`);
});

// The luma of each picture at a point.
async function lightness(path: string, x: number, y: number): Promise<number[]> {
  const { output } = await runNative([
    ...["-i", path, "-vf", `crop=2:2:${2 * Math.floor(x / 2)}:${2 * Math.floor(y / 2)},format=yuv420p`],
    ...["-fps_mode", "passthrough", "-f", "rawvideo", "-"],
  ]);
  return [...output].filter((_, at) => at % 6 === 0);
}

// Hertz, from the number of times that the sound crosses zero.
function pitch(samples: Float32Array, sample_rate = 48_000): number {
  let crossings = 0;
  for (let at = 1; at < samples.length; at++) {
    if ((samples[at] ?? 0) < 0 !== (samples[at - 1] ?? 0) < 0) crossings++;
  }
  return (crossings * sample_rate) / (2 * samples.length);
}
