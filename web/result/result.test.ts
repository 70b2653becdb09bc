import { expect, test } from "vitest";
import type { Source } from "../../src/index.ts";
import { factsOf } from "./result.tsx";

const FILM: Source = {
  ...{ object: "source", url: "opfs:/page/out/task_1/a.mp4", kind: "video", format: "mp4" },
  ...{
    width: 1920,
    height: 1080,
    duration: 65.4321,
    fps: 29.97002997,
    bitrate: 4_321_000,
    filesize: 35_000_000,
  },
  codecs: { video: "hevc", audio: "aac" },
  audio: { channels: 2, sample_rate: 44_100 },
};

test.for([
  {
    name: "a film",
    source: FILM,
    sizes: [],
    facts: {
      ...{ Format: "MP4", Codecs: "H.265 + AAC", Picture: "1920 × 1080 pixels", Duration: "1:05.43" },
      ...{ "Frame rate": "29.97 per second", Sound: "stereo, 44.1 kHz", Bitrate: "4.32 Mbit/s" },
    },
  },
  {
    name: "an MP3",
    source: {
      ...{
        object: "source",
        url: "opfs:/a.mp3",
        kind: "audio",
        format: "mp3",
        duration: 5,
        bitrate: 128_400,
      },
      codecs: { video: null, audio: "mp3" },
      audio: { channels: 1, sample_rate: 48_000 },
      ...{ encoder: "copy", reason: "Copied without re-encoding." },
    },
    sizes: [],
    facts: {
      ...{ Format: "MP3", Duration: "0:05.00", Sound: "mono, 48 kHz", Bitrate: "128 kbit/s" },
      Made: "Copied without re-encoding.",
    },
  },
  {
    name: "a picture",
    source: {
      object: "source",
      url: "opfs:/a.webp",
      kind: "image",
      format: "webp",
      width: 64,
      height: 36,
      bitrate: 1,
    },
    sizes: [],
    facts: { Format: "WebP", Picture: "64 × 36 pixels" },
  },
  {
    name: "a stream",
    source: {
      ...{ object: "source", url: "opfs:/master.m3u8", kind: "adaptive_video", format: "hls", filesize: 300 },
      renditions: [
        { url: "opfs:/a", width: 640, height: 360, bitrate: 1, codecs: "avc1" },
        { url: "opfs:/b", bitrate: 1, codecs: "mp4a" },
      ],
    },
    sizes: [300, 700],
    facts: { Format: "HLS", Renditions: "640 × 360, sound", Files: "2, 1 kB" },
  },
] as const)("the facts of $name", ({ source, sizes, facts }) => {
  expect(Object.fromEntries(factsOf(source as Source, sizes))).toEqual(facts);
});
