import { expect, test } from "vitest";
import { exactFps, ntscRate } from "../../src/media/features/fps.ts";
import { QUALITIES } from "../../src/media/formats.ts";
import {
  AUDIO_BITRATE,
  audioBitrate,
  CRF,
  IMAGE_QUALITY,
  imageQuality,
  videoRate,
} from "../../src/media/rates.ts";

// The values go from very_low to very_high.
test.for([
  { codec: "h264", expected: [31, 27, 23, 20, 17] },
  { codec: "h265", expected: [36, 32, 28, 24, 21] },
  { codec: "vp9", expected: [43, 37, 32, 27, 22] },
  { codec: "av1", expected: [50, 43, 35, 30, 25] },
] as const)("rate factors of $codec are $expected", ({ codec, expected }) => {
  expect(QUALITIES.map((quality) => videoRate(codec, { quality }))).toEqual(expected.map((crf) => ({ crf })));
  expect(videoRate(codec, {})).toEqual({ crf: CRF[codec].medium });
  expect(videoRate(codec, { bitrate: 1_000_000, quality: "very_high" })).toEqual({ bitrate: 1_000_000 });
});

test.for([
  { codec: "aac", expected: [64, 96, 128, 192, 256] },
  { codec: "mp3", expected: [64, 96, 128, 192, 256] },
  { codec: "opus", expected: [48, 64, 96, 128, 192] },
  { codec: "vorbis", expected: [48, 64, 96, 128, 192] },
] as const)("bitrates of $codec in kbit/s are $expected", ({ codec, expected }) => {
  const kbps = QUALITIES.map((quality) => (audioBitrate(codec, { quality }) ?? 0) / 1000);
  expect(kbps).toEqual(expected);
  expect(audioBitrate(codec, {})).toBe(AUDIO_BITRATE[codec].medium);
  expect(audioBitrate(codec, { bitrate: 80_000, quality: "low" })).toBe(80_000);
});

test.for(["flac", "pcm_s16le"] as const)("%s has no bitrate", (codec) => {
  expect(audioBitrate(codec, { bitrate: 80_000, quality: "low" })).toBeNull();
});

test.for([
  { format: "jpeg", expected: [40, 60, 78, 87, 94] },
  { format: "webp", expected: [40, 60, 78, 87, 94] },
  { format: "avif", expected: [45, 38, 30, 23, 16] },
] as const)("qualities of $format are $expected", ({ format, expected }) => {
  expect(QUALITIES.map((quality) => imageQuality(format, quality))).toEqual(expected);
  expect(imageQuality(format)).toBe(IMAGE_QUALITY[format].medium);
});

test("png and gif have no quality", () => {
  expect([imageQuality("png", "low"), imageQuality("gif", "very_high")]).toEqual([null, null]);
});

test.for([
  { fps: 23.976, whole: 24 },
  { fps: 23.98, whole: 24 },
  { fps: 29.97, whole: 30 },
  { fps: 30_000 / 1001, whole: 30 },
  { fps: 59.94, whole: 60 },
  { fps: 119.88, whole: 120 },
  { fps: 24, whole: null },
  { fps: 25, whole: null },
  { fps: 12.5, whole: null },
  { fps: 29.5, whole: null },
  { fps: 1, whole: null },
  { fps: 24.7123, whole: null },
] as const)("$fps fps is the NTSC rate of $whole", ({ fps, whole }) => {
  expect(ntscRate(fps)).toBe(whole);
  expect(exactFps(fps)).toBe(whole === null ? fps : (whole * 1000) / 1001);
});
