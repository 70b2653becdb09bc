import { expect, test } from "vitest";
import type { Source } from "../../src/index.ts";
import type { Wishes } from "../queue/item.ts";
import { describeWishes } from "./wish-words.ts";

const wishes = (kind: Wishes["kind"], options: object, target_size: number | null = null): Wishes => ({
  ...{ kind, options, target_size, preset: null, place: "device" },
});
const png: Source = { object: "source", url: "file:", kind: "image", format: "png" };

test.for([
  ["MP4, H.264, medium quality", wishes("video", {})],
  ["WebM, VP9, 640 wide, high quality", wishes("video", { format: "webm", width: 640, quality: "high" })],
  [
    "MP4, AV1, 640 × 360, 30 fps, 0:01.50 to 0:04.00, 2.5 Mbit/s",
    wishes("video", {
      codec: "av1",
      width: 640,
      height: 360,
      fps: 30,
      start: 1.5,
      end: 4,
      bitrate: 2_500_000,
    }),
  ],
  ["MP4, H.264, 50 % of the size, at most 8 MB", wishes("video", { width: "50%", height: "50%" }, 8e6)],
  [
    "MP3, from 0:03.00, 1.5 times as fast, 96 kbit/s",
    wishes("audio", { start: 3, speed: 1.5, bitrate: 96_000 }),
  ],
  ["MP4, H.264", wishes("video", { fps: Number.NaN }, Number.NaN)],
  [
    "MP4, H.264, with a logo, medium quality",
    wishes("video", { overlay: { url: "https://example.com/logo.png" } }),
  ],
  [
    "MP4, H.264, with subtitles, 2 more after it, medium quality",
    wishes("video", {
      subtitles: [{ url: "https://example.com/en.srt" }],
      concat: [{ url: "https://example.com/b.mp4" }, { url: "https://example.com/c.mp4" }],
    }),
  ],
  ["MP4, H.264, medium quality", wishes("video", { width: 100, height: "wide" })],
  ["MP3", wishes("audio", { bitrate: Number.NaN })],
  ["GIF, 50 % wide", wishes("image", { format: "gif", width: "50%" })],
  ["FLAC", wishes("audio", { format: "flac", quality: "low" })],
  ["WebP, 480 high, lowest quality", wishes("image", { format: "webp", height: 480, quality: "very_low" })],
  ["PNG, frame at 0:02.50", wishes("image", { start: 2.5 })],
  ["PNG, 5 pictures, from 0:02.50", wishes("image", { start: 2.5, count: 5 })],
  ["JPEG storyboard, one every 10 seconds, medium quality", wishes("storyboard", { interval: 10 })],
  ["HLS stream, highest quality", wishes("adaptive_video", { quality: "very_high" })],
] as const)("%s", ([text, chosen]) => {
  expect(describeWishes(chosen, png)).toBe(text);
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
  expect(describeWishes(wishes("video", {}), film)).toBe("MP4, H.264, copied");
  expect(describeWishes(wishes("video", { width: 320 }), film)).toBe("MP4, H.264, 320 wide, medium quality");
});
