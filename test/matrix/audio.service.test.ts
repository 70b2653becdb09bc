import { afterAll, beforeAll, test } from "vitest";
import { type AudioFormat, FORMATS } from "../../src/media/formats.ts";
import { alsClip, alsPcm } from "../fixtures/als.ts";
import { clip } from "../fixtures/clips.ts";
import { heAacClip } from "../fixtures/he-aac.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { FOLD, monoSound, noiseClip, noiseSound, surroundClip } from "../judge/clips.ts";
import { readContainer } from "../judge/container.ts";
import { readFacts } from "../judge/facts.ts";
import { note } from "../judge/figures.ts";
import { ALIKE_SOUND } from "../judge/limits.ts";
import { runNative } from "../judge/native.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { compareSound, readSound, recallSound } from "../judge/sound.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await openRig();
});
afterAll(() => rig?.close());

const LIMIT = { timeout: 240_000 };
const FORMAT_NAMES = Object.keys(FORMATS.audio) as AudioFormat[];

// Seconds by which the decoded output may be late or too long: one codec frame, or two where the format
// cannot signal the padding (AAC in ADTS).
const SLACK = { mp3: 0.03, aac: 0.05, ogg: 0.03, opus: 0.025, wav: 0.0005, flac: 0.0005 } as const;

const SOURCES = {
  wav: () => noiseSound("wav", 1),
  flac: () => noiseSound("flac", 1),
  mp3: () => noiseSound("mp3", 1),
  m4a: () => noiseSound("m4a", 1),
  ogg: () => noiseSound("ogg", 1),
  opus: () => noiseSound("opus", 1),
  "a video": () => noiseClip(1),
  "24-bit wav": () => clip("wav_24_bit", { seconds: 1 }),
  "mp3 with a cover": () => clip("mp3_cover", { seconds: 1 }),
  "an avi video": () => clip("avi", { seconds: 1 }),
  "an mpegts video": () => clip("mpegts", { seconds: 1 }),
  "HE-AACv2 in ADTS": () => heAacClip("aac"),
  "HE-AACv2 in M4A": () => heAacClip("m4a"),
};

// A source is decoded before it is encoded, so each goes to the most exact output and to one other, in turn; all formats are made
// from one source with a cover and one without.
const LOSSY = ["mp3", "aac", "ogg", "opus"] as const;
const EVERY: ReadonlySet<string> = new Set(["wav", "mp3 with a cover"]);
const CASES = (Object.keys(SOURCES) as (keyof typeof SOURCES)[]).flatMap((name, index) => {
  const formats = EVERY.has(name) ? FORMAT_NAMES : (["wav", LOSSY[index % LOSSY.length] ?? "mp3"] as const);
  return formats.map((format) => ({ name, format }));
});

// The depth of these sources, which a WAV keeps.
const DEEP: ReadonlySet<string> = new Set(["flac", "24-bit wav"]);

const COVERED: ReadonlySet<string> = new Set(["mp3", "ogg", "opus", "flac"]);

test.concurrent.for(CASES)("$name to $format", LIMIT, async ({ name, format }, { expect, task }) => {
  const original = await SOURCES[name]();
  const output = await rig.door.encode({
    input: rig.serve(original),
    kind: "audio",
    options: { format, quality: "high" },
  });
  expect(output.mime).toBe(FORMATS.audio[format].mime);
  expect(await readContainer(output.path)).toBe(format);
  const facts = await readFacts(output.path);
  // Formats that support a cover keep it.
  const covered = name === "mp3 with a cover" && COVERED.has(format);
  const cover = { streams: 2, picture: { codec: "mjpeg", width: 120, height: 120 } };
  expect(facts).toMatchObject(covered ? cover : { streams: 1, picture: null });
  const codec = format === "wav" && DEEP.has(name) ? "pcm_s24le" : FORMATS.audio[format].codec;
  expect(facts.sound).toMatchObject({ codec, channels: 2 });
  if (format !== "opus")
    expect(facts.sound?.sample_rate).toBe((await readFacts(original)).sound?.sample_rate);
  const as = { channels: 2, sample_rate: 8000 };
  const [got, expected] = await Promise.all([readSound(output.path, as), recallSound(original, as)]);
  const slack = SLACK[format];
  expect(Math.abs(got.duration - expected.duration)).toBeLessThanOrEqual(slack + 0.001);
  for (const echo of compareSound(got, expected)) {
    note(task, { ...echo, longer: got.duration - expected.duration });
    expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    expect(Math.abs(echo.lag)).toBeLessThanOrEqual(slack);
    expect(Math.abs(echo.gain)).toBeLessThan(1);
  }
});

test.concurrent.for(["wav", "flac"] as const)("%s is lossless", LIMIT, async (format, { expect }) => {
  const original = await noiseSound("wav", 1);
  const input = rig.serve(original);
  const output = await rig.door.encode({ input, kind: "audio", options: { format } });
  const as = { channels: 2, sample_rate: 48_000 };
  const [got, expected] = await Promise.all([readSound(output.path, as), recallSound(original, as)]);
  expect(got).toEqual(expected);
});

// Every cut falls inside a frame, and each frame refers to the one before.
test.concurrent.for([
  { depth: 24, trim: {}, samples: [0, 49_152] },
  { depth: 16, trim: { start: 0.3, end: 0.8 }, samples: [14_400, 38_400] },
  {
    depth: 16,
    trim: {
      parts: [
        { start: 0.3, end: 0.5 },
        { start: 0.5, end: 0.8 },
      ],
    },
    samples: [14_400, 38_400],
  },
] as const)(
  "MPEG-4 ALS of $depth bits to WAV with $trim keeps every sample",
  LIMIT,
  async ({ depth, trim, samples: [from, to] }, { expect }) => {
    const input = rig.serve(await alsClip(depth));
    const { path, task } = await rig.door.encode({
      input,
      kind: "audio",
      options: { format: "wav", ...trim },
    });
    expect(task.steps[0]?.output?.codecs).toEqual({ video: null, audio: "mp4als" });
    const { output } = await runNative(["-i", path, "-f", `s${depth}le`, "-"]);
    const size = (depth / 8) * 2;
    expect(output.equals(alsPcm(depth).subarray(from * size, to * size))).toBe(true);
  },
);

test.concurrent.for(FORMAT_NAMES)(
  "surround sound to %s keeps its channels if lossless, else is mixed down to stereo",
  LIMIT,
  async (format, { expect }) => {
    const original = await surroundClip(1);
    // A quality forces an encode; otherwise a stream of the right codec is copied with all its channels.
    const options = { format, quality: "high" };
    const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
    const { sound } = await readFacts(output.path);
    const lossless = format === "wav" || format === "flac";
    const channels = lossless ? 6 : 2;
    expect(sound?.channels).toBe(channels);
    const as = { channels, sample_rate: 8000 };
    const fold = lossless ? [] : ["-af", FOLD];
    const [got, expected] = await Promise.all([
      readSound(output.path, as),
      recallSound(original, { ...as, after: fold }),
    ]);
    for (const echo of compareSound(got, expected)) {
      expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
      expect(echo.gain).toBeLessThan(1);
      expect(echo.gain).toBeGreaterThan(lossless ? -1 : -8.7);
    }
  },
);

// ffmpeg takes a number of channels for 2.1, 4.0, 5.0, 5.1, 6.1 or 7.1, and mixes any other layout into it.
const LAYOUTS = {
  "3.0": 3,
  quad: 4,
  "3.1": 4,
  "5.0(side)": 5,
  hexagonal: 6,
  "6.1(back)": 7,
  "7.1(wide)": 8,
} as const;

/** Another noise from each loudspeaker of a layout. */
function placedSound(layout: keyof typeof LAYOUTS): Promise<string> {
  const inputs = Array.from({ length: LAYOUTS[layout] }, (_, seed) => seed);
  const noises = inputs.map((seed) => `anoisesrc=seed=${seed}:duration=1:sample_rate=48000[${seed}]`);
  const join = `${inputs.map((seed) => `[${seed}]`).join("")}join=inputs=${inputs.length}:channel_layout=${layout}`;
  return makeClip("wav", ["-filter_complex", [...noises, join].join(";")]);
}

async function samplesOf(path: string): Promise<Int16Array> {
  const { output } = await runNative(["-i", path, "-f", "s16le", "-"]);
  return new Int16Array(Uint8Array.from(output).buffer);
}

const power = (samples: Int16Array) => samples.reduce((sum, sample) => sum + sample * sample, 0);

const PLACED = (Object.keys(LAYOUTS) as (keyof typeof LAYOUTS)[]).flatMap((layout) =>
  (["wav", "flac"] as const).map((format) => ({ layout, format })),
);

test.concurrent.for(PLACED)(
  "$layout to $format keeps every sample of each channel",
  LIMIT,
  async (row, { expect }) => {
    const original = await placedSound(row.layout);
    const options = { format: row.format, quality: "high" } as const;
    const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
    const [got, expected] = await Promise.all([samplesOf(output.path), samplesOf(original)]);
    expect(got.length).toBe(expected.length);
    expect(got.findIndex((sample, index) => sample !== expected[index])).toBe(-1);
  },
);

test("normalizing changes the level of all channels alike", LIMIT, async ({ expect }) => {
  const original = await placedSound("quad");
  const options = { format: "wav", normalize: true, target_lufs: -30 } as const;
  const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
  const [got, expected] = await Promise.all([samplesOf(output.path), samplesOf(original)]);
  expect(got.length).toBe(expected.length);
  const gain = Math.sqrt(power(got) / power(expected));
  expect(gain).toBeLessThan(0.5);
  // Rounding, and the error of the gain itself.
  expect(got.findIndex((sample, index) => Math.abs(sample - gain * (expected[index] ?? 0)) > 3)).toBe(-1);
});

// The encoders of MP3 and AAC have parts of their own for low rates.
const RATES = FORMAT_NAMES.flatMap((format) => {
  const rates = format === "mp3" || format === "aac" ? [8000, 11_025, 22_050, 96_000] : [8000, 96_000];
  return rates.map((rate) => ({ format, rate }));
});

test.concurrent.for(RATES)("mono at $rate Hz to $format", LIMIT, async ({ format, rate }, { expect }) => {
  const original = await monoSound(rate);
  const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options: { format } });
  expect((await readFacts(output.path)).sound?.channels).toBe(1);
  const as = { channels: 1, sample_rate: 8000 };
  const [got, expected] = await Promise.all([readSound(output.path, as), recallSound(original, as)]);
  // Codec frames last longer at a lower rate.
  const slack = SLACK[format] * Math.max(1, 44_100 / rate);
  expect(Math.abs(got.duration - expected.duration)).toBeLessThanOrEqual(slack + 0.001);
  for (const echo of compareSound(got, expected, 0.4)) {
    expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    expect(Math.abs(echo.lag)).toBeLessThanOrEqual(slack);
    expect(Math.abs(echo.gain)).toBeLessThan(1);
  }
});

test.concurrent.for(FORMAT_NAMES)("start and end trim %s precisely", LIMIT, async (format, { expect }) => {
  const original = await noiseSound("flac", 2);
  const options = { format, quality: "high", start: 0.5, end: 1.25 };
  const output = await rig.door.encode({ input: rig.serve(original), kind: "audio", options });
  const as = { channels: 2, sample_rate: 8000 };
  const [got, expected] = await Promise.all([
    readSound(output.path, as),
    recallSound(original, { ...as, after: ["-af", "atrim=0.5:1.25,asetpts=PTS-STARTPTS"] }),
  ]);
  expect(Math.abs(got.duration - 0.75)).toBeLessThanOrEqual(SLACK[format] + 0.001);
  for (const echo of compareSound(got, expected)) {
    expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    expect(Math.abs(echo.lag)).toBeLessThanOrEqual(SLACK[format]);
  }
});
