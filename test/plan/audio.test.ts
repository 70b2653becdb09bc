import { expect, test } from "vitest";
import { SAMPLE_RATES } from "../../src/media/features/audio-format.ts";
import type { AudioCodec } from "../../src/media/formats.ts";
import { createAudioPlan, maxBitrate, sampleRate } from "../../src/media/sound-plan.ts";
import { audioSource } from "./source.ts";

const source = (codec: string, channels = 2, sample_rate = 48_000, format = "mp4") =>
  audioSource({ format, codecs: { video: null, audio: codec }, audio: { channels, sample_rate } });
const plain = { trimmed: false };

test.for([
  ["aac", "aac", 2, true],
  ["mp3", "mp3", 1, true],
  ["opus", "opus", 2, true],
  ["vorbis", "vorbis", 2, true],
  ["flac", "flac", 6, true],
  ["pcm_s16le", "pcm_s16le", 8, true],
  ["aac", "aac", 6, false],
  ["aac", "mp3", 2, false],
  ["pcm_s24le", "pcm_s16le", 2, false],
  ["flac", "flac", 16, false],
] as const)("%s to %s with %s channels, copied: %s", ([from, to, channels, copied]) => {
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

const encode = (codec: AudioCodec, changes: object) => ({
  ...{ mode: "encode", codec, bitrate: null, compression: null, channels: 2, sample_rate: 48_000 },
  ...changes,
});

test.for([
  ["mp3", source("flac", 6, 96_000), {}, { bitrate: 128_000 }],
  ["mp3", source("flac", 2, 88_200), {}, { bitrate: 128_000, sample_rate: 44_100 }],
  ["mp3", source("pcm_s16le", 1, 37_800), {}, { bitrate: 128_000, channels: 1, sample_rate: 44_100 }],
  [
    "mp3",
    source("pcm_s16le", 1, 8000),
    { bitrate: 320_000 },
    { bitrate: 64_000, channels: 1, sample_rate: 8000 },
  ],
  ["aac", source("ac3", 6), { quality: "high" }, { bitrate: 192_000 }],
  ["aac", source("amr_nb", 1, 8000), {}, { bitrate: 48_000, channels: 1, sample_rate: 8000 }],
  ["opus", source("mp3", 2, 44_100), {}, { bitrate: 96_000 }],
  ["opus", source("mp3", 1, 44_100), { bitrate: 320_000 }, { bitrate: 256_000, channels: 1 }],
  ["vorbis", source("mp3", 2, 44_100), { bitrate: 320_000 }, { bitrate: 320_000, sample_rate: 44_100 }],
  ["vorbis", source("mp3", 2, 44_100), { bitrate: 32_000 }, { bitrate: 32_000, sample_rate: 24_000 }],
  [
    "vorbis",
    source("mp3", 1, 44_100),
    { bitrate: 320_000 },
    { bitrate: 240_000, channels: 1, sample_rate: 44_100 },
  ],
  ["vorbis", source("mp3", 1, 8000), {}, { bitrate: 42_000, channels: 1, sample_rate: 8000 }],
  [
    "flac",
    source("aac", 6, 44_100),
    { bitrate: 64_000 },
    { compression: 5, channels: 6, sample_rate: 44_100 },
  ],
  ["flac", source("dsd", 2, 352_800), { quality: "very_high" }, { compression: 12, sample_rate: 192_000 }],
  ["pcm_s16le", source("aac", 12, 44_100), { quality: "low" }, { channels: 8, sample_rate: 44_100 }],
] as const)("encodes to %s from %o with %o", ([codec, from, options, wanted]) => {
  expect(createAudioPlan(from, codec, { trimmed: false, ...options })).toEqual(encode(codec, wanted));
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
  ["mp3", 96_000, 48_000],
  ["mp3", 12_345, 16_000],
  ["aac", 192_000, 48_000],
  ["aac", 176_400, 44_100],
  ["flac", 4000, 8000],
  ["flac", 96_000, 96_000],
] as const)("%s encodes %s Hz at %s", ([codec, from, to]) => {
  expect(sampleRate(codec, from)).toBe(to);
});
