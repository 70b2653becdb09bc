/** The slowest test files, in the order in which they start: one that started late would run alone in the end. */
export const SLOWEST: readonly string[] = [
  "test/encoders/fast/kernels.ffmpeg.test.ts",
  "test/package/package.browser.test.ts",
  "test/player/whole.browser.test.ts",
  "test/client/remote.browser.test.ts",
  "test/matrix/pairs.service.test.ts",
  "test/encoders/stitch-stream.ffmpeg.test.ts",
  "test/integrity/matrix.browser.test.ts",
  "test/local/demo.ffmpeg.test.ts",
  "test/encoders/fast/fast-core.ffmpeg.test.ts",
  "test/browser/client-svg.browser.test.ts",
  "test/encoders/fast/decoding.ffmpeg.test.ts",
  "test/encoders/browser-webcodecs.browser.test.ts",
  "test/encoders/stitch-native.ffmpeg.test.ts",
  "test/encoders/fast/damaged.ffmpeg.test.ts",
  "test/local/service.service.test.ts",
  "test/browser/encoder-table.browser.test.ts",
];
