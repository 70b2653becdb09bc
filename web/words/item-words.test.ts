import { expect, test } from "vitest";
import type { Source, Task } from "../../src/index.ts";
import { createTask } from "../../src/runs/task.ts";
import { defaultSettings } from "../options/default-settings.ts";
import { createItem, type Item, type Settings } from "../queue/item.ts";
import {
  describeDropped,
  describeEncoder,
  describePlace,
  describeSettings,
  describeSource,
} from "./item-words.ts";

const settingsOf = (
  kind: Settings["kind"],
  options: object,
  target_size: number | null = null,
): Settings => ({
  ...{ kind, options, target_size, preset: null, place: "device" },
});
const png: Source = { object: "source", url: "file:", kind: "image", format: "png" };

test.for([
  { text: "MP4, H.264, medium quality", settings: settingsOf("video", {}) },
  {
    text: "WebM, VP9, 640 wide, high quality",
    settings: settingsOf("video", { format: "webm", width: 640, quality: "high" }),
  },
  {
    text: "MP4, AV1, 640 × 360, 30 fps, 0:01.50 to 0:04.00, 2.5 Mbit/s",
    settings: settingsOf("video", {
      codec: "av1",
      width: 640,
      height: 360,
      fps: 30,
      start: 1.5,
      end: 4,
      bitrate: 2_500_000,
    }),
  },
  {
    text: "MP4, H.264, 50 % of the size, at most 8 MB",
    settings: settingsOf("video", { width: "50%", height: "50%" }, 8e6),
  },
  {
    text: "MP3, from 0:03.00, 1.5 times as fast, 96 kbit/s",
    settings: settingsOf("audio", { start: 3, speed: 1.5, bitrate: 96_000 }),
  },
  { text: "MP4, H.264", settings: settingsOf("video", { fps: Number.NaN }, Number.NaN) },
  {
    text: "MP4, H.264, with a logo, medium quality",
    settings: settingsOf("video", { overlay: { url: "https://example.com/logo.png" } }),
  },
  {
    text: "MP4, H.264, with subtitles, 2 more after it, medium quality",
    settings: settingsOf("video", {
      subtitles: [{ url: "https://example.com/en.srt" }],
      concat: [{ url: "https://example.com/b.mp4" }, { url: "https://example.com/c.mp4" }],
    }),
  },
  { text: "MP4, H.264, medium quality", settings: settingsOf("video", { width: 100, height: "wide" }) },
  { text: "MP3", settings: settingsOf("audio", { bitrate: Number.NaN }) },
  { text: "GIF, 50 % wide", settings: settingsOf("image", { format: "gif", width: "50%" }) },
  { text: "FLAC", settings: settingsOf("audio", { format: "flac", quality: "low" }) },
  {
    text: "WebP, 480 high, lowest quality",
    settings: settingsOf("image", { format: "webp", height: 480, quality: "very_low" }),
  },
  { text: "PNG, frame at 0:02.50", settings: settingsOf("image", { start: 2.5 }) },
  { text: "PNG, 5 pictures, from 0:02.50", settings: settingsOf("image", { start: 2.5, count: 5 }) },
  {
    text: "JPEG storyboard, one every 10 seconds, medium quality",
    settings: settingsOf("storyboard", { interval: 10 }),
  },
  { text: "HLS stream, highest quality", settings: settingsOf("adaptive_video", { quality: "very_high" }) },
] as const)("$text", ({ text, settings }) => {
  expect(describeSettings(settings, png)).toBe(text);
});

test("says that a stream is copied when it is not re-encoded", () => {
  const streams = [
    { index: 0, kind: "video" as const, codec: "h264" },
    { index: 1, kind: "audio" as const, codec: "aac" },
  ];
  const film: Source = {
    ...{ object: "source", url: "file:", kind: "video", format: "mp4", width: 640, height: 360 },
    ...{ duration: 4, codecs: { video: "h264", audio: "aac" }, pixel_format: "yuv420p", streams },
  };
  expect(describeSettings(settingsOf("video", {}), film)).toBe("MP4, H.264, copied");
  expect(describeSettings(settingsOf("video", { width: 320 }), film)).toBe(
    "MP4, H.264, 320 wide, medium quality",
  );
});

const source = (facts: Partial<Source>): Source => ({
  ...{ object: "source", url: "file:", kind: "video", format: "mp4" },
  ...facts,
});

test.for([
  {
    text: "MP4 video, H.264 and AAC, 1920 × 1080, 29.97 fps, 0:32, 45.2 MB",
    facts: {
      ...{ codecs: { video: "h264", audio: "aac" }, width: 1920, height: 1080 },
      ...{ fps: 29.97002997, duration: 32.04, filesize: 45_200_000 },
    },
  },
  {
    text: "Matroska video, VP9, 640 × 360, 25 fps, 1:02:03",
    facts: {
      ...{ format: "matroska", codecs: { video: "vp9", audio: null }, width: 640, height: 360 },
      ...{ fps: 25, duration: 3723 },
    },
  },
  {
    text: "WAV audio, PCM, mono, 44.1 kHz, 0:05, 441 kB",
    facts: {
      ...{ kind: "audio", format: "wav", codecs: { video: null, audio: "pcm_s16le" }, duration: 5 },
      ...{ audio: { channels: 1, sample_rate: 44_100 }, filesize: 441_000 },
    },
  },
  {
    text: "MP3 audio, 6 channels, 48 kHz, 0:05",
    facts: {
      ...{ kind: "audio", format: "mp3", codecs: { video: null, audio: "mp3" }, duration: 5 },
      audio: { channels: 6, sample_rate: 48_000 },
    },
  },
  {
    text: "JPEG image, 4000 × 3000, 3 MB",
    facts: { kind: "image", format: "jpeg", width: 4000, height: 3000, filesize: 3e6, duration: 0.04 },
  },
  {
    text: "GIF animation, 320 × 200",
    facts: { kind: "image", format: "gif", width: 320, height: 200, animated: true },
  },
  { text: "NUT video", facts: { format: "nut" } },
  {
    text: "AVI video, unknown codec and MP3",
    facts: { format: "avi", codecs: { video: null, audio: "mp3" } },
  },
] as { text: string; facts: Partial<Source> }[])("$text", ({ text, facts }) => {
  expect(describeSource(source(facts))).toBe(text);
});

const film: Source = {
  ...{ object: "source", url: "https://example.com/film", kind: "video", format: "matroska" },
  ...{ width: 320, height: 240, coded_width: 320, coded_height: 240, duration: 5, fps: 25 },
  ...{
    codecs: { video: "h264", audio: "ac3" },
    audio: { channels: 6, sample_rate: 48_000 },
    chapters: [{ start: 0, end: 5, title: "" }],
  },
  streams: [
    { index: 0, kind: "video", codec: "h264" },
    { index: 1, kind: "audio", codec: "ac3", language: "eng" },
    { index: 2, kind: "audio", codec: "aac", language: "fra" },
    { index: 3, kind: "subtitle", codec: "hdmv_pgs_subtitle", language: "deu" },
    { index: 4, kind: "cover", codec: "mjpeg" },
  ],
  tags: { title: "Dawn", location: "+48.8577+002.2950/" },
};
const omittedFrom = (kind: Settings["kind"], options: Settings["options"]): Settings => ({
  ...{ ...defaultSettings(film), kind, options },
});
const CROWD = "1 further sound track (French), surround sound (it becomes stereo), subtitles (German)";

test.for([
  {
    kind: "video",
    options: { format: "mp4" },
    words: `Leaves out: ${CROWD}, private tags such as location and device.`,
  },
  { kind: "video", options: { format: "mp4", metadata: "keep" }, words: `Leaves out: ${CROWD}.` },
  { kind: "video", options: { format: "webm", metadata: "keep" }, words: `Leaves out: ${CROWD}, the cover.` },
  { kind: "video", options: { format: "mov", metadata: "keep" }, words: `Leaves out: ${CROWD}, the cover.` },
  { kind: "video", options: { format: "mp4", metadata: "strip" }, words: `Leaves out: ${CROWD}.` },
  { kind: "image", options: {}, words: null },
] as const)("$kind with $options", ({ kind, options, words }) => {
  expect(describeDropped(omittedFrom(kind, options), film)).toBe(words);
});

test("the missing end of a file is not listed as another track", () => {
  const source: Source = { ...film, format: "mp4", truncated: true, tags: {} };
  const settings = { ...defaultSettings(source), options: { mute: true, partial: true } };
  expect(describeDropped(settings, source)).toBe(
    "Leaves out: the end, as the file is cut off, subtitles (German).",
  );
});

test("returns null where nothing is left out", () => {
  const { chapters: _, tags: __, ...plain } = film;
  const silent: Source = { ...plain, codecs: { video: "h264", audio: null }, streams: [] };
  const { audio: ___, ...mute } = silent;
  expect(describeDropped(omittedFrom("video", { format: "mp4" }), mute)).toBeNull();
  expect(describeDropped(omittedFrom("video", {}), null)).toBeNull();
});

const draft = createItem("https://a.example/b.mp4");
const edge: Item = {
  ...{ ...draft, service: "https://media.example" },
  settings: { ...draft.settings, place: "edge" },
};

function taskOf(status: Task["status"], encoded?: { encoder: string; reason: string }): Task {
  const request = { input: "file:", kind: "video", options: {}, metadata: {} } as const;
  const task = createTask(request, (prefix) => `${prefix}_1`, 0);
  const output = encoded
    ? ({ object: "source", url: "", kind: "video", format: "mp4", ...encoded } as const)
    : null;
  return {
    ...task,
    status,
    steps: task.steps.map((step, n) => (n === 2 ? { ...step, output } : step)),
  } as Task;
}

test("describes the place before, during and after a task, with the encoder and its reason", () => {
  expect(describePlace(draft)).toBe("Will run on this device; nothing is sent anywhere.");
  expect(describePlace({ ...edge, service: null })).toBe("Will run on the edge; its address is sent there.");
  expect(describePlace({ ...edge, service: null, input: new Blob() })).toBe(
    "Will run on the edge; the file is sent there.",
  );
  expect(describePlace({ ...edge, task: taskOf("queued") })).toBe("Runs on the edge (media.example).");
  expect(describePlace({ ...draft, task: taskOf("failed") })).toBe("Ran on this device.");
  const choice = { encoder: "webcodecs", reason: "Faster here: 8 s, not 16 s." };
  const pace = { progress: 12, speed: null, eta: null, choice };
  const how = "with the browser's own encoder (WebCodecs). Faster here: 8 s, not 16 s.";
  expect(describePlace({ ...draft, task: taskOf("processing"), pace })).toBe(`Runs on this device ${how}`);
  expect(describePlace({ ...draft, task: taskOf("failed"), pace })).toBe(`Ran on this device ${how}`);
  const reason = "Encoded in 2 parts; a reload repeats at most one.";
  expect(describePlace({ ...draft, task: taskOf("succeeded", { encoder: "wasm", reason }) })).toBe(
    `Made on this device with FFmpeg in WebAssembly. ${reason}`,
  );
  expect(describeEncoder({ encoder: "wasm", reason })).toBe(`with FFmpeg in WebAssembly. ${reason}`);
  const copied = { encoder: "copy", reason: "Copied without re-encoding." };
  expect(describePlace({ ...draft, task: taskOf("succeeded", copied) })).toBe(
    "Made on this device. Copied without re-encoding.",
  );
  expect(describeEncoder(copied)).toBe("Copied without re-encoding.");
  expect(describeEncoder({})).toBe(null);
});
