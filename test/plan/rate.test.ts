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

// From very_low to very_high.
test.for([
  ["h264", [31, 27, 23, 20, 17]],
  ["h265", [36, 32, 28, 24, 21]],
  ["vp9", [43, 37, 32, 27, 22]],
  ["av1", [50, 43, 35, 30, 25]],
] as const)("rate factors of %s are %s", ([codec, wanted]) => {
  expect(QUALITIES.map((quality) => videoRate(codec, { quality }))).toEqual(wanted.map((crf) => ({ crf })));
  expect(videoRate(codec, {})).toEqual({ crf: CRF[codec].medium });
  expect(videoRate(codec, { bitrate: 1_000_000, quality: "very_high" })).toEqual({ bitrate: 1_000_000 });
});

test.for([
  ["aac", [64, 96, 128, 192, 256]],
  ["mp3", [64, 96, 128, 192, 256]],
  ["opus", [48, 64, 96, 128, 192]],
  ["vorbis", [48, 64, 96, 128, 192]],
] as const)("bitrates of %s in kbit/s are %s", ([codec, wanted]) => {
  const kbps = QUALITIES.map((quality) => (audioBitrate(codec, { quality }) ?? 0) / 1000);
  expect(kbps).toEqual(wanted);
  expect(audioBitrate(codec, {})).toBe(AUDIO_BITRATE[codec].medium);
  expect(audioBitrate(codec, { bitrate: 80_000, quality: "low" })).toBe(80_000);
});

test.for(["flac", "pcm_s16le"] as const)("%s has no bitrate", (codec) => {
  expect(audioBitrate(codec, { bitrate: 80_000, quality: "low" })).toBeNull();
});

test.for([
  ["jpeg", [40, 60, 78, 87, 94]],
  ["webp", [40, 60, 78, 87, 94]],
  ["avif", [45, 38, 30, 23, 16]],
] as const)("qualities of %s are %s", ([format, wanted]) => {
  expect(QUALITIES.map((quality) => imageQuality(format, quality))).toEqual(wanted);
  expect(imageQuality(format)).toBe(IMAGE_QUALITY[format].medium);
});

test("png and gif have no quality", () => {
  expect([imageQuality("png", "low"), imageQuality("gif", "very_high")]).toEqual([null, null]);
});

test.for([
  [23.976, 24],
  [23.98, 24],
  [29.97, 30],
  [30_000 / 1001, 30],
  [59.94, 60],
  [119.88, 120],
  [24, null],
  [25, null],
  [12.5, null],
  [29.5, null],
  [1, null],
  [24.7123, null],
] as const)("%s fps is the NTSC rate of %s", ([fps, whole]) => {
  expect(ntscRate(fps)).toBe(whole);
  expect(exactFps(fps)).toBe(whole === null ? fps : (whole * 1000) / 1001);
});
