import { expect, test } from "vitest";
import { SAMPLE_RATES } from "../../src/media/features/audio-format.ts";
import type { AudioCodec } from "../../src/media/formats.ts";
import { createAudioPlan, maxBitrate, sampleRate } from "../../src/media/sound-plan.ts";
import { copySound, copySoundOnly } from "../../src/media/video-plan.ts";
import { audioSource } from "./source.ts";

const source = (codec: string, channels = 2, sample_rate = 48_000, format = "mp4") =>
  audioSource({ format, codecs: { video: null, audio: codec }, audio: { channels, sample_rate } });
const plain = { trimmed: false };

test.for([
  { from: "aac", to: "aac", channels: 2, copied: true },
  { from: "mp3", to: "mp3", channels: 1, copied: true },
  { from: "opus", to: "opus", channels: 2, copied: true },
  { from: "vorbis", to: "vorbis", channels: 2, copied: true },
  { from: "flac", to: "flac", channels: 6, copied: true },
  { from: "pcm_s16le", to: "pcm_s16le", channels: 8, copied: true },
  { from: "aac", to: "aac", channels: 6, copied: false },
  { from: "aac", to: "mp3", channels: 2, copied: false },
  { from: "pcm_s24le", to: "pcm_s16le", channels: 2, copied: false },
  { from: "flac", to: "flac", channels: 16, copied: false },
] as const)("$from to $to with $channels channels, copied: $copied", ({ from, to, channels, copied }) => {
  expect(createAudioPlan(source(from, channels), to, plain).mode).toBe(copied ? "copy" : "encode");
});

test("a trim, a quality, a bitrate or an AVI source requires an encode", () => {
  for (const needs of [
    { trimmed: true },
    { ...plain, quality: "medium" },
    { ...plain, bitrate: 64_000 },
  ] as const) {
    expect(createAudioPlan(source("aac"), "aac", needs).mode).toBe("encode");
  }
  expect(createAudioPlan(source("mp3", 2, 48_000, "avi"), "mp3", plain).mode).toBe("encode");
});

test("sound without times is never copied, not even on request", () => {
  const avi = source("mp3", 2, 48_000, "avi");
  const refusal = "avi does not say when its sound plays";
  expect(() => copySound(avi, "mp4")).toThrow(refusal);
  expect(() => copySoundOnly(avi, "mp3", { start: 0, end: null, duration: 4 })).toThrow(refusal);
});

const encode = (codec: AudioCodec, changes: object) => ({
  ...{ mode: "encode", codec, bitrate: null, compression: null, channels: 2, sample_rate: 48_000 },
  ...changes,
});

test.for([
  { codec: "mp3", from: source("flac", 6, 96_000), options: {}, expected: { bitrate: 128_000 } },
  {
    codec: "mp3",
    from: source("flac", 2, 88_200),
    options: {},
    expected: { bitrate: 128_000, sample_rate: 44_100 },
  },
  {
    codec: "mp3",
    from: source("pcm_s16le", 1, 37_800),
    options: {},
    expected: { bitrate: 128_000, channels: 1, sample_rate: 44_100 },
  },
  {
    codec: "mp3",
    from: source("pcm_s16le", 1, 8000),
    options: { bitrate: 320_000 },
    expected: { bitrate: 64_000, channels: 1, sample_rate: 8000 },
  },
  { codec: "aac", from: source("ac3", 6), options: { quality: "high" }, expected: { bitrate: 192_000 } },
  {
    codec: "aac",
    from: source("amr_nb", 1, 8000),
    options: {},
    expected: { bitrate: 48_000, channels: 1, sample_rate: 8000 },
  },
  { codec: "opus", from: source("mp3", 2, 44_100), options: {}, expected: { bitrate: 96_000 } },
  {
    codec: "opus",
    from: source("mp3", 1, 44_100),
    options: { bitrate: 320_000 },
    expected: { bitrate: 256_000, channels: 1 },
  },
  {
    codec: "vorbis",
    from: source("mp3", 2, 44_100),
    options: { bitrate: 320_000 },
    expected: { bitrate: 320_000, sample_rate: 44_100 },
  },
  {
    codec: "vorbis",
    from: source("mp3", 2, 44_100),
    options: { bitrate: 32_000 },
    expected: { bitrate: 32_000, sample_rate: 24_000 },
  },
  {
    codec: "vorbis",
    from: source("mp3", 1, 44_100),
    options: { bitrate: 320_000 },
    expected: { bitrate: 240_000, channels: 1, sample_rate: 44_100 },
  },
  {
    codec: "vorbis",
    from: source("mp3", 1, 8000),
    options: {},
    expected: { bitrate: 42_000, channels: 1, sample_rate: 8000 },
  },
  {
    codec: "flac",
    from: source("aac", 6, 44_100),
    options: { bitrate: 64_000 },
    expected: { compression: 5, channels: 6, sample_rate: 44_100 },
  },
  {
    codec: "flac",
    from: source("dsd", 2, 352_800),
    options: { quality: "very_high" },
    expected: { compression: 12, sample_rate: 192_000 },
  },
  {
    codec: "pcm_s16le",
    from: source("aac", 12, 44_100),
    options: { quality: "low" },
    expected: { channels: 8, sample_rate: 44_100 },
  },
] as const)("encodes to $codec from $from with $options", ({ codec, from, options, expected }) => {
  expect(createAudioPlan(from, codec, { trimmed: false, ...options })).toEqual(encode(codec, expected));
});

test("assumes stereo at 48 kHz for a source without audio facts", () => {
  const { audio, ...unknown } = audioSource();
  expect(audio).toBeDefined();
  expect(createAudioPlan(unknown, "aac", plain)).toEqual(encode("aac", { bitrate: 128_000 }));
});

test("every bitrate option is within the codec's limits", () => {
  for (const codec of ["aac", "mp3", "opus", "vorbis"] as const) {
    for (const from of SAMPLE_RATES) {
      for (const channels of [1, 2]) {
        for (const bitrate of [32_000, 128_000, 320_000]) {
          const plan = createAudioPlan(source("pcm_s16le", channels, from), codec, {
            trimmed: false,
            bitrate,
          });
          if (plan.mode !== "encode" || plan.bitrate === null) throw new Error("not encoded at a bitrate");
          expect(plan.bitrate).toBeLessThanOrEqual(maxBitrate(codec, plan.channels, plan.sample_rate));
          expect(plan.sample_rate).toBe(codec === "opus" ? 48_000 : Math.min(from, plan.sample_rate));
        }
      }
    }
  }
});

test.for([
  { codec: "mp3", from: 96_000, to: 48_000 },
  { codec: "mp3", from: 12_345, to: 16_000 },
  { codec: "aac", from: 192_000, to: 48_000 },
  { codec: "aac", from: 176_400, to: 44_100 },
  { codec: "flac", from: 4000, to: 8000 },
  { codec: "flac", from: 96_000, to: 96_000 },
] as const)("$codec encodes $from Hz at $to", ({ codec, from, to }) => {
  expect(sampleRate(codec, from)).toBe(to);
});

test.for([
  { codec: "mp3", own: 24_000, sample_rate: 22_050, bitrate: 24_000 },
  { codec: "mp3", own: 23_900, sample_rate: 22_050, bitrate: 24_000 },
  { codec: "mp3", own: 8000, sample_rate: 8000, bitrate: 8000 },
  { codec: "mp3", own: 30_000, sample_rate: 22_050, bitrate: 24_000 },
  { codec: "mp3", own: 24_000, sample_rate: 44_100, bitrate: 32_000 },
  { codec: "aac", own: 24_000, sample_rate: 22_050, bitrate: 24_000 },
  { codec: "opus", own: 16_000, sample_rate: 16_000, bitrate: 16_000 },
  { codec: "vorbis", own: 16_000, sample_rate: 16_000, bitrate: 16_000 },
  { codec: "opus", own: 500, sample_rate: 16_000, bitrate: 8000 },
] as const)(
  "MP3 of $own bit/s at $sample_rate Hz becomes $codec of $bitrate bit/s",
  ({ codec, own, sample_rate, bitrate }) => {
    const from = audioSource({
      format: "mp3",
      codecs: { video: null, audio: "mp3" },
      audio: { channels: 1, sample_rate },
      streams: [{ index: 0, kind: "audio", codec: "mp3", bitrate: own }],
    });
    expect(createAudioPlan(from, codec, { trimmed: true })).toMatchObject({ mode: "encode", bitrate });
  },
);
