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
  { name: "without audio", source: silent, options: {}, bytes: 1_009_000, expected: { bitrate: 720_000 } },
  {
    name: "cut to half",
    source: silent,
    options: { start: 2, end: 7 },
    bytes: 506_500,
    expected: { start: 2, end: 7, bitrate: 720_000 },
  },
  {
    name: "with another codec",
    source: silent,
    options: { format: "webm" },
    bytes: 1_009_000,
    expected: { format: "webm", bitrate: 720_000 },
  },
  {
    name: "instead of a bitrate",
    source: silent,
    options: { bitrate: 5_000_000 },
    bytes: 1_009_000,
    expected: { bitrate: 720_000 },
  },
  // 46.875 packets of 9 bytes add 3375 bits per second to the 128000 of the audio.
  {
    name: "with copied audio",
    source: small({ streams }),
    options: {},
    bytes: 1_009_000,
    expected: { bitrate: 601_763 },
  },
  {
    name: "with audio of unknown bitrate",
    source: small(),
    options: {},
    bytes: 1_009_000,
    expected: { quality: "medium", bitrate: 601_763 },
  },
  {
    name: "with audio of a requested quality",
    source: small(),
    options: { quality: "low" },
    bytes: 1_009_000,
    expected: { quality: "low", bitrate: 630_563 },
  },
  // Audio gets at most a fifth of the room.
  {
    name: "with audio of lower quality",
    source: small(),
    options: {},
    bytes: 609_000,
    expected: { quality: "very_low", bitrate: 371_363 },
  },
  {
    name: "with the lowest audio quality",
    source: small(),
    options: {},
    bytes: 510_000,
    expected: { fps: 12.5, quality: "very_low", bitrate: 301_883 },
  },
] as const)("chooses the bitrate for the size of a video $name", ({ source, options, bytes, expected }) => {
  const { bitrate, ...rest } = expected;
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
  { format: "mp3", bytes: 60_000, bitrate: 40_000 },
  { format: "mp3", bytes: 1_000_000, bitrate: 320_000 },
  { format: "aac", bytes: 100_000, bitrate: 73_055 },
  { format: "opus", bytes: 100_000, bitrate: 72_792 },
  { format: "ogg", bytes: 100_000, bitrate: 73_055 },
] as const)(
  "chooses for audio as $format in $bytes bytes a bitrate of $bitrate",
  ({ format, bytes, bitrate }) => {
    const options: AudioOptions = { format };
    expect(optionsForSize("audio", options, audioSource(), bytes)).toEqual({ format, bitrate });
  },
);

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

test("never exceeds the source's bitrate", () => {
  const bitrates = (bitrate: number) => ({
    streams: [
      { index: 0, kind: "video" as const, codec: "h264", bitrate },
      { index: 1, kind: "audio" as const, codec: "mp3", bitrate: 48_000 },
    ],
    codecs: { video: "h264", audio: "mp3" },
  });
  const plenty = 100_000_000;
  const most = (options: VideoOptions, source: Source) =>
    bitrateOf(optionsForSize("video", options, source, plenty), source);
  expect(most({ height: 240 }, small(bitrates(400_000)))).toBe(360_000);
  expect(most({ format: "webm" }, small(bitrates(400_000)))).toBe(360_000);
  expect(most({ height: 240, speed: 2 }, small(bitrates(400_000)))).toBe(720_000);
  expect(most({ height: 240 }, { ...silent, bitrate: 100_000 })).toBe(90_000);
  expect(most({ height: 240 }, silent)).toBe(60_000_000);
  const { audio } = createPlan(small(bitrates(400_000)), "video", { height: 240, target_size: plenty });
  expect(audio).toMatchObject({ codec: "aac", bitrate: 48_000 });
  const spoken = audioSource({ format: "mp3", bitrate: 40_000, codecs: { video: null, audio: "mp3" } });
  expect(optionsForSize("audio", { format: "ogg" }, spoken, plenty)).toEqual({
    format: "ogg",
    bitrate: 40_000,
  });
});

const COPIED = small({ streams, filesize: 10_160_000 });

test.for([
  { name: "as it is", options: {} },
  { name: "at the source's own values", options: { width: 640, height: 360, codec: "h264", start: 0 } },
  { name: "in a format that holds it", options: { format: "mov" } },
  { name: "without the sound", options: { mute: true } },
  { name: "whatever the quality of encoded sound would be", options: { quality: "low" } },
  { name: "that may not be enlarged", options: { height: 720, enlarge: false } },
] as const)("copies a source that is within the target size, $name", ({ options }) => {
  const bytes = 10_170_000;
  const sized = optionsForSize("video", options as VideoOptions, COPIED, bytes);
  expect(sized).toEqual({ ...options, target_size: bytes });
  const plan = createPlan(COPIED, "video", sized);
  expect([plan.video?.mode, plan.audio?.mode ?? "copy", plan.target_size]).toEqual([
    "copy",
    "copy",
    undefined,
  ]);
  const { copied, bytes: expected } = forecast("video", sized, COPIED);
  expect(copied).toBe(true);
  expect(expected).toBeLessThanOrEqual(bytes);
});

test.for([
  { name: "is larger", source: COPIED, options: {}, bytes: 10_000_000 },
  { name: "has another size in pixels", source: COPIED, options: { width: 320 }, bytes: 20_000_000 },
  { name: "has another codec", source: COPIED, options: { format: "webm" }, bytes: 20_000_000 },
  { name: "is cut", source: COPIED, options: { end: 9 }, bytes: 20_000_000 },
] as const)("encodes a source that $name, at less than its bitrate", ({ source, options, bytes }) => {
  const sized = optionsForSize("video", options as VideoOptions, source, bytes);
  expect(createPlan(source, "video", sized)).toMatchObject({ video: { mode: "encode" } });
  expect(bitrateOf(sized, source)).toBeLessThanOrEqual(7_200_000);
  expect(forecast("video", sized, source).bytes).toBeLessThanOrEqual(bytes);
});

test.for([
  { name: "the same container", format: "mp4" },
  { name: "another one, in which it may grow", format: "matroska" },
])(
  "a source of exactly the target size, in $name, is copied first, and encoded where that exceeds it",
  (row) => {
    const source = { ...COPIED, format: row.format };
    const bytes = 10_160_000;
    expect(optionsForSize("video", {}, source, bytes)).toEqual({ target_size: bytes });
    expect(forecast("video", { target_size: bytes }, source)).toMatchObject({ copied: true });
    expect(forecast("video", { target_size: bytes }, source).bytes).toBeLessThanOrEqual(bytes);
    expect(createPlan(source, "video", { target_size: bytes }, { encodes: true })).toMatchObject({
      video: { mode: "encode", rate: { bitrate: 7_190_483 } },
      target_size: bytes,
    });
    expect(createPlan(source, "video", { target_size: bytes - 1 }).video?.mode).toBe("encode");
    expect(forecast("video", optionsForSize("video", {}, source, bytes - 1), source).copied).toBe(false);
  },
);

test("copies sound that is within the size", () => {
  const codecs = { video: null, audio: "mp3" };
  const spoken = audioSource({ format: "mp3", bitrate: 128_000, filesize: 160_000, codecs });
  expect(optionsForSize("audio", { format: "mp3", quality: "high" }, spoken, 200_000)).toEqual({
    format: "mp3",
  });
  expect(optionsForSize("audio", { format: "mp3" }, spoken, 150_000)).toEqual({
    format: "mp3",
    bitrate: 96_000,
  });
  // A copy of Ogg has no more bytes, also with the overhead of its pages.
  const opus = { ...spoken, format: "ogg", codecs: { video: null, audio: "opus" } };
  expect(optionsForSize("audio", { format: "opus" }, opus, 160_100)).toEqual({ format: "opus" });
  expect(optionsForSize("audio", { format: "opus" }, opus, 159_999)).toMatchObject({
    bitrate: expect.any(Number),
  });
});

const long = { duration: 60 };

test.for([
  {
    kind: "video",
    options: {},
    source: videoSource(long),
    bytes: 500_000,
    message: "500 kB is too small for 1:00; the minimum is 720 kB.",
  },
  {
    kind: "video",
    options: { end: 30 },
    source: videoSource(long),
    bytes: 300_000,
    message: "300 kB is too small for 0:30; the minimum is 362 kB.",
  },
  {
    kind: "audio",
    options: {},
    source: audioSource(long),
    bytes: 200_000,
    message: "200 kB is too small for 1:00; the minimum is 275 kB.",
  },
  {
    kind: "video",
    options: {},
    source: videoSource({ duration: undefined }),
    bytes: 1_000_000,
    message: "The duration is unknown",
  },
  {
    kind: "video",
    options: {},
    source: silent,
    bytes: 0,
    message: "The target size must be a number above 0.",
  },
  {
    kind: "video",
    options: {},
    source: silent,
    bytes: Number.NaN,
    message: "The target size must be a number above 0.",
  },
  {
    kind: "audio",
    options: { format: "flac" },
    source: audioSource(),
    bytes: 1_000_000,
    message: "flac is lossless",
  },
  {
    kind: "image",
    options: {},
    source: imageSource(),
    bytes: 1_000_000,
    message: "A target size applies to video and sound only",
  },
  {
    kind: "adaptive_video",
    options: {},
    source: videoSource(),
    bytes: 1_000_000,
    message: "A target size applies to video and sound only",
  },
] as const)("rejects for $kind with $options: $source", ({ kind, options, source, bytes, message }) => {
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
  {
    name: "a video of eleven minutes",
    facts: { duration: 680 },
    bytes: 20e6,
    expected: { height: 240, fps: 12.5, quality: "very_low" },
    bitrate: 149_285,
  },
  {
    name: "an upright phone video of two minutes",
    facts: {
      ...{ width: 1080, height: 1920, coded_width: 1080, coded_height: 1920 },
      fps: 59.94,
      duration: 120,
    },
    bytes: 20e6,
    expected: { width: 540, fps: 29.97, quality: "medium", target_size: 20e6 },
    bitrate: 1_077_207,
  },
  {
    name: "a video of 10 seconds",
    facts: { duration: 10 },
    bytes: 20e6,
    expected: { quality: "medium" },
    bitrate: 14_275_283,
  },
] as const)(
  "lowers picture size, frame rate and audio as needed to fit $name",
  ({ facts, bytes, expected, bitrate }) => {
    const source = videoSource(facts);
    const options = optionsForSize("video", {}, source, bytes);
    expect(options).toMatchObject(expected);
    expect(bitrateOf(options, source)).toBe(bitrate);
    const prediction = forecast("video", options, source);
    expect(prediction.quality).not.toBe("poor");
    expect(prediction.bytes).toBeGreaterThan(0.88 * bytes);
    expect(prediction.bytes).toBeLessThanOrEqual(bytes);
  },
);

test("shrinks both sides together and keeps the requested options as maxima", () => {
  const source = videoSource({ duration: 680 });
  const box = { width: 1000, height: 1000, fit: "contain", fps: 10 } as const;
  expect(optionsForSize("video", box, source, 20e6)).toMatchObject({ ...box, width: 480, height: 480 });
});

test.for([
  [999_499, "999 kB"],
  [999_950, "1 MB"],
  [999_500, "1 MB"],
] as const)("%i bytes are written in the unit that they round to: %s", ([bytes, text]) => {
  const { message } = faultOf(() => optionsForSize("video", {}, videoSource({ duration: 600 }), bytes));
  expect(message).toContain(`${text} is too small for 10:00;`);
});
