import { expect, test } from "vitest";
import type { Source } from "../../src/index.ts";
import { describeSource } from "./source-words.ts";

const source = (facts: Partial<Source>): Source => ({
  ...{ object: "source", url: "file:", kind: "video", format: "mp4" },
  ...facts,
});

test.for([
  [
    "MP4 video, H.264 and AAC, 1920 × 1080, 29.97 fps, 0:32, 45.2 MB",
    {
      ...{ codecs: { video: "h264", audio: "aac" }, width: 1920, height: 1080 },
      ...{ fps: 29.97002997, duration: 32.04, filesize: 45_200_000 },
    },
  ],
  [
    "Matroska video, VP9, 640 × 360, 25 fps, 1:02:03",
    {
      ...{ format: "matroska", codecs: { video: "vp9", audio: null }, width: 640, height: 360 },
      ...{ fps: 25, duration: 3723 },
    },
  ],
  [
    "WAV audio, PCM, mono, 44.1 kHz, 0:05, 441 kB",
    {
      ...{ kind: "audio", format: "wav", codecs: { video: null, audio: "pcm_s16le" }, duration: 5 },
      ...{ audio: { channels: 1, sample_rate: 44_100 }, filesize: 441_000 },
    },
  ],
  [
    "MP3 audio, 6 channels, 48 kHz, 0:05",
    {
      ...{ kind: "audio", format: "mp3", codecs: { video: null, audio: "mp3" }, duration: 5 },
      audio: { channels: 6, sample_rate: 48_000 },
    },
  ],
  [
    "JPEG image, 4000 × 3000, 3 MB",
    { kind: "image", format: "jpeg", width: 4000, height: 3000, filesize: 3e6, duration: 0.04 },
  ],
  ["GIF animation, 320 × 200", { kind: "image", format: "gif", width: 320, height: 200, animated: true }],
  ["NUT video", { format: "nut" }],
  ["AVI video, unknown codec and MP3", { format: "avi", codecs: { video: null, audio: "mp3" } }],
] as [string, Partial<Source>][])("%s", ([text, facts]) => {
  expect(describeSource(source(facts))).toBe(text);
});
