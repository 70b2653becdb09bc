import { expect, test } from "vitest";
import type { Source } from "../../src/media/source.ts";
import { isLargerAtNoGain } from "../../src/runs/steps/step-work.ts";
import { audioSource, imageSource, videoSource } from "../plan/source.ts";

const VIDEO = videoSource({ filesize: 1_000_000 });
const larger = (changes: Partial<Source> = {}): Source => ({ ...VIDEO, filesize: 1_000_001, ...changes });

test.for([
  { name: "a video", output: larger(), source: VIDEO },
  { name: "a video of another format", output: larger({ format: "webm" }), source: VIDEO },
  { name: "a smaller picture", output: larger({ width: 320, height: 180 }), source: VIDEO },
  { name: "padded sound", output: larger({ duration: 10.06 }), source: VIDEO },
  { name: "a picture", output: imageSource({ filesize: 2 }), source: imageSource({ filesize: 1 }) },
  { name: "sound", output: audioSource({ filesize: 2 }), source: audioSource({ filesize: 1 }) },
] as const)("says that $name is larger than its source", ({ output, source }) => {
  expect(isLargerAtNoGain(output, source, {})).toBe(true);
});

test.for([
  { name: "as large", output: larger({ filesize: 1_000_000 }), source: VIDEO, options: {} },
  { name: "smaller", output: larger({ filesize: 1 }), source: VIDEO, options: {} },
  { name: "of unknown size before", output: larger(), source: videoSource(), options: {} },
  { name: "enlarged", output: larger({ width: 3840, height: 2160 }), source: VIDEO, options: {} },
  { name: "slower", output: larger({ duration: 20 }), source: VIDEO, options: {} },
  { name: "of more frames", output: larger({ fps: 50 }), source: VIDEO, options: {} },
  {
    name: "of more channels",
    output: larger({ audio: { channels: 6, sample_rate: 48_000 } }),
    source: VIDEO,
    options: {},
  },
  { name: "of another kind", output: larger({ kind: "image" }), source: VIDEO, options: {} },
  { name: "of several files", output: larger({ files: [] }), source: VIDEO, options: {} },
  {
    name: "with another file in it",
    output: larger(),
    source: VIDEO,
    options: { overlay: { url: "https://example.com/logo.png" } },
  },
] as const)("says nothing of an output that is $name", ({ output, source, options }) => {
  expect(isLargerAtNoGain(output as Source, source, options)).toBe(false);
});
