import { deepEqual, equal, ok } from "../../browser/assert.ts";
import type { KindCase } from "./kind-case.ts";
import { TO_BLUE } from "./picture-cases.ts";
import { checkBluePicture } from "./pixel.ts";

const CHAPTERS = [
  { start: 0, end: 1, title: "Dawn" },
  { start: 1, end: 2, title: "Dusk" },
];
/** The codecs of most videos. */
export const H264 = { video: "h264", audio: "aac" };
const STEREO = { channels: 2, sample_rate: 44_100 };

/** Videos of one file. */
export const VIDEO_CASES: readonly KindCase[] = [
  {
    makes: "a video of twice the speed without sound, turned, then mirrored, then cropped",
    kind: "video",
    options: { ...TO_BLUE, speed: 2, mute: true },
    source: {
      ...({ kind: "video", format: "mp4", width: 44, height: 80, duration: 1, fps: 25 } as const),
      ...{ codecs: { video: "h264", audio: null }, counts: { pictures: { source: 50, output: 25 } } },
    },
    check: ({ blob }, client) => checkBluePicture(blob, client),
  },
  {
    makes:
      "a video with the codec, bitrate, channels and sample rate of one language's sound, and its chapters",
    kind: "video",
    options: {
      ...({ width: 80, audio_codec: "mp3", audio_bitrate: 64_000 } as const),
      ...{ track: "de", sample_rate: 24_000, channels: 2 },
    },
    source: {
      ...({ kind: "video", format: "mp4", width: 80, height: 44, chapters: CHAPTERS } as const),
      ...{ codecs: { video: "h264", audio: "mp3" }, audio: { channels: 2, sample_rate: 24_000 } },
      dropped: [{ kind: "audio", index: 1, language: "eng", reason: "one_track" }],
    },
    seconds: 2,
    check({ source: { streams } }) {
      const { bitrate = 0 } = streams?.find(({ kind }) => kind === "audio") ?? {};
      ok(Math.abs(bitrate - 64_000) < 4_000, `the sound has ${bitrate} bits per second`);
    },
  },
  {
    makes: "a video below its target_size",
    kind: "video",
    options: { target_size: 60_000 },
    source: { kind: "video", format: "mp4", codecs: H264, audio: STEREO, chapters: CHAPTERS },
    seconds: 2,
    check: ({ blob }) => ok(blob.size < 60_000, `it has ${blob.size} bytes`),
  },
  {
    makes: "a copy of a span, from the keyframe before it, with the chapters of the span",
    kind: "video",
    options: { mode: "copy", start: 1.2, end: 1.6 },
    source: {
      ...({ kind: "video", format: "mp4", width: 160, height: 90, audio: STEREO } as const),
      ...{ cut: { start: 1, end: 1.603 }, chapters: [{ start: 0, end: 0.6, title: "Dusk" }] },
    },
    seconds: 0.6,
    async check({ source: { counts, codecs }, task: { steps } }) {
      deepEqual(counts?.pictures, { source: 15, output: 15 });
      deepEqual(codecs, steps[0]?.output?.codecs);
    },
  },
  {
    makes: "one video of two",
    kind: "video",
    options: ({ dubbed }) => ({ concat: [{ url: dubbed }], width: 80 }),
    source: {
      ...({ kind: "video", format: "mp4", width: 80, height: 44, duration: 4, fps: 25 } as const),
      ...{ codecs: H264, audio: STEREO },
      counts: { pictures: { source: 100, output: 100 }, sound: { source: 4, output: 4.023 } },
    },
  },
  {
    makes: "three parts of a video, one of them twice, with their chapters",
    kind: "video",
    options: { width: 80, parts: [{ start: 1.2 }, { end: 0.4 }, { end: 0.4 }] },
    source: {
      ...({ kind: "video", format: "mp4", width: 80, height: 44, codecs: H264, audio: STEREO } as const),
      chapters: [
        { start: 0, end: 0.8, title: "Dusk" },
        { start: 0.8, end: 1.6, title: "Dawn" },
      ],
    },
    seconds: 1.6,
    check: ({ source: { counts } }) => deepEqual(counts?.pictures, { source: 40, output: 40 }),
  },
  {
    makes: "a WebM of fewer pictures with Vorbis, quieter, that fades in",
    kind: "video",
    options: { format: "webm", audio_codec: "vorbis", fps: 10, volume: 0.5, fade_in: 0.2, end: 1 },
    source: {
      ...({ kind: "video", format: "webm", width: 160, height: 90, fps: 10, audio: STEREO } as const),
      ...{ codecs: { video: "vp9", audio: "vorbis" }, chapters: CHAPTERS.slice(0, 1) },
    },
    seconds: 1,
    check: ({ source: { counts } }) => equal(counts?.pictures?.output, 10),
  },
  {
    makes: "a QuickTime file of another shape with bars, at another loudness",
    kind: "video",
    options: {
      ...({ format: "mov", width: 100, height: 100, background: "#0000ff", position: "bottom" } as const),
      ...{ normalize: true, target_lufs: -18, fade_out: 1 },
    },
    source: {
      ...({ kind: "video", format: "mov", width: 100, height: 100, fps: 25, chapters: CHAPTERS } as const),
      ...{ codecs: H264, audio: STEREO },
    },
    seconds: 2,
    async check({ blob }, client) {
      const crop = { width: "100%", height: "20%" } as const;
      const bar = { kind: "image", options: { format: "png", crop, width: 1, height: 1 } } as const;
      await checkBluePicture((await client.run({ input: blob, ...bar })).blob, client);
    },
  },
];
