import { expect, test } from "vitest";
import { forecast, optionsForSize } from "../../src/media/index.ts";
import type { AudioOptions, VideoOptions } from "../../src/media/option-types.ts";
import type { Source } from "../../src/media/source.ts";
import { audioSource, faultOf, imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

// Small enough to look good at these bitrates, so that no other option has to be lowered.
const SMALL = { width: 640, height: 360, coded_width: 640, coded_height: 360 };

// The container adds 4000 bytes and 20 for each of 250 pictures; 0.9 of the rest goes to the streams.
const small = (changes: Partial<Source> = {}) => videoSource({ ...SMALL, ...changes });
const silent = small({ codecs: { video: "h264", audio: null } });
const streams = [
  { index: 0, kind: "video" as const, codec: "h264", bitrate: 8_000_000 },
  { index: 1, kind: "audio" as const, codec: "aac", bitrate: 128_000 },
];

test.for([
  ["without audio", silent, {}, 1_009_000, { bitrate: 720_000 }],
  ["cut to half", silent, { start: 2, end: 7 }, 506_500, { start: 2, end: 7, bitrate: 720_000 }],
  ["with another codec", silent, { format: "webm" }, 1_009_000, { format: "webm", bitrate: 720_000 }],
  ["instead of a bitrate", silent, { bitrate: 5_000_000 }, 1_009_000, { bitrate: 720_000 }],
  // 46.875 packets of 9 bytes add 3375 bits per second to the 128000 of the audio.
  ["with copied audio", small({ streams }), {}, 1_009_000, { bitrate: 601_763 }],
  ["with audio of unknown bitrate", small(), {}, 1_009_000, { quality: "medium", bitrate: 601_763 }],
  [
    "with audio of a requested quality",
    small(),
    { quality: "low" },
    1_009_000,
    { quality: "low", bitrate: 630_563 },
  ],
  // Audio gets at most a fifth of the room.
  ["with audio of lower quality", small(), {}, 609_000, { quality: "very_low", bitrate: 371_363 }],
  [
    "with the lowest audio quality",
    small(),
    {},
    510_000,
    { fps: 12.5, quality: "very_low", bitrate: 301_883 },
  ],
] as const)("chooses the bitrate for the size of a video %s", ([, source, options, bytes, wanted]) => {
  const { bitrate, ...rest } = wanted;
  const fitted = optionsForSize("video", options as VideoOptions, source, bytes);
  expect(fitted).toEqual({ ...rest, target_size: bytes });
  expect(bitrateOf(fitted, source)).toBe(bitrate);
});

/** The bits per second of the pictures that a video's options lead to. */
function bitrateOf(options: VideoOptions, source: Source): number | undefined {
  const { video } = createPlan(source, "video", options);
  return video?.mode === "encode" && "bitrate" in video.rate ? video.rate.bitrate : undefined;
}

test.for([
  ["mp3", 60_000, 40_000],
  ["mp3", 1_000_000, 320_000],
  ["aac", 100_000, 73_055],
  ["opus", 100_000, 72_792],
  ["ogg", 100_000, 73_055],
] as const)("chooses for audio as %s in %d bytes a bitrate of %d", ([format, bytes, bitrate]) => {
  const options: AudioOptions = { format };
  expect(optionsForSize("audio", options, audioSource(), bytes)).toEqual({ format, bitrate });
});

test.for([8000, 11_025, 24_000, 96_000])(
  "the forecast for a target size does not exceed it, at %d Hz",
  (sample_rate) => {
    const audio = { channels: 1, sample_rate };
    const codecs = { video: null, audio: "pcm_s16le" };
    const spoken = audioSource({ format: "wav", bitrate: 8 * 16 * sample_rate, audio, codecs });
    for (const format of ["mp3", "aac", "ogg", "opus"] as const) {
      const bytes = forecast("audio", optionsForSize("audio", { format }, spoken, 60_000), spoken).bytes;
      expect([format, (bytes ?? 0) <= 60_000]).toEqual([format, true]);
    }
    const film = videoSource({ audio, codecs: { video: "h264", audio: "pcm_s16le" } });
    const fitted = optionsForSize("video", { format: "webm" }, film, 500_000);
    expect(forecast("video", fitted, film).bytes).toBeLessThanOrEqual(500_000);
  },
);

test("a size that is not whole becomes one that a request may have", () => {
  expect(optionsForSize("video", {}, silent, 8.2 * 123_456.7)).toEqual({ target_size: 1_012_344 });
});

test("never asks for more than twice the source's bitrate, above the minimum", () => {
  const source = small({ streams: [{ index: 0, kind: "video", codec: "h264", bitrate: 400_000 }] });
  const plenty = 100_000_000;
  const most = (source: Source) => bitrateOf(optionsForSize("video", {}, source, plenty), source);
  expect(most(source)).toBe(800_000);
  expect(most({ ...silent, bitrate: 100_000 })).toBe(300_000);
  expect(most(silent)).toBe(60_000_000);
  const spoken = audioSource({ format: "mp3", bitrate: 40_000, codecs: { video: null, audio: "mp3" } });
  expect(optionsForSize("audio", {}, spoken, plenty)).toEqual({ bitrate: 80_000 });
});

const long = { duration: 60 };

test.for([
  ["video", {}, videoSource(long), 500_000, "500 kB is too small for 1:00; the minimum is 720 kB."],
  ["video", { end: 30 }, videoSource(long), 300_000, "300 kB is too small for 0:30; the minimum is 362 kB."],
  ["audio", {}, audioSource(long), 200_000, "200 kB is too small for 1:00; the minimum is 275 kB."],
  ["video", {}, videoSource({ duration: undefined }), 1_000_000, "How long this takes to play is not known"],
  ["video", {}, silent, 0, "The target size must be a number above 0."],
  ["video", {}, silent, Number.NaN, "The target size must be a number above 0."],
  ["audio", { format: "flac" }, audioSource(), 1_000_000, "flac is lossless"],
  ["image", {}, imageSource(), 1_000_000, "A target size applies to video and sound only"],
  ["adaptive_video", {}, videoSource(), 1_000_000, "A target size applies to video and sound only"],
] as const)("rejects for %s with %j: %s", ([kind, options, source, bytes, message]) => {
  const fault = faultOf(() => optionsForSize(kind, options, source as never, bytes));
  expect(fault).toEqual({
    kind: "invalid_options",
    param: "target_size",
    message: expect.stringContaining(message),
  });
});

test("the minimum in the message is reachable, and less is rejected", () => {
  const source = videoSource(long);
  const { message } = faultOf(() => optionsForSize("video", {}, source, 1));
  const [, least] = /^1 B is too small for 1:00; the minimum is (\d+) kB\.$/.exec(message) ?? [];
  const bytes = Number(least) * 1000;
  expect(optionsForSize("video", {}, source, bytes)).toEqual({
    ...{ height: 144, fps: 8.333, quality: "very_low", target_size: bytes },
  });
  expect(faultOf(() => optionsForSize("video", {}, source, bytes - 1000)).kind).toBe("invalid_options");
});

test.for([
  [
    "a video of eleven minutes",
    { duration: 680 },
    20e6,
    { height: 240, fps: 12.5, quality: "very_low" },
    149_285,
  ],
  [
    "an upright phone video of two minutes",
    { ...{ width: 1080, height: 1920, coded_width: 1080, coded_height: 1920 }, fps: 59.94, duration: 120 },
    20e6,
    { width: 540, fps: 29.97, quality: "medium", target_size: 20e6 },
    1_077_207,
  ],
  ["a video of 10 seconds", { duration: 10 }, 20e6, { quality: "medium" }, 14_275_283],
] as const)(
  "lowers picture size, frame rate and audio as needed to fit %s",
  ([, facts, bytes, wanted, bitrate]) => {
    const source = videoSource(facts);
    const options = optionsForSize("video", {}, source, bytes);
    expect(options).toMatchObject(wanted);
    expect(bitrateOf(options, source)).toBe(bitrate);
    const made = forecast("video", options, source);
    expect(made.quality).not.toBe("poor");
    expect(made.bytes).toBeGreaterThan(0.88 * bytes);
    expect(made.bytes).toBeLessThanOrEqual(bytes);
  },
);

test("shrinks both sides together and keeps the requested options as maxima", () => {
  const source = videoSource({ duration: 680 });
  const box = { width: 1000, height: 1000, fit: "contain", fps: 10 } as const;
  expect(optionsForSize("video", box, source, 20e6)).toMatchObject({ ...box, width: 480, height: 480 });
});
