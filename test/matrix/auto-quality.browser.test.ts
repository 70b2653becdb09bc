import { expect, test } from "vitest";
import { makeClip } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { usePage } from "./hosts.ts";

const { encode } = usePage("auto-quality");

test("a page measures a video that is cut and has text", { timeout: 240_000 }, async () => {
  const clip = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=s=320x192:r=25:d=6", "-c:v", "libx264", "-preset", "veryfast"],
    ...["-g", "25", "-pix_fmt", "yuv420p"],
  ]);
  const { path } = await encode("video", clip, { quality: "auto", text: [{ text: "Lisbon" }] });
  expect((await readFacts(path)).picture?.times).toHaveLength(150);
});

test("a page measures the quality of a video with its core, not with WebCodecs", {
  timeout: 240_000,
}, async () => {
  const clip = await makeClip("mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=s=320x240:r=25:d=1", "-c:v", "libx264", "-crf", "12"],
    ...["-pix_fmt", "yuv420p"],
  ]);
  const auto = await encode("video", clip, { quality: "auto" });
  const high = await encode("video", clip, { quality: "high" });
  expect([auto.encoder, high.encoder]).toEqual(["fast", "fast"]);
  const [own, fixed] = [await readFacts(auto.path), await readFacts(high.path)];
  expect(own.bytes).toBeLessThan(fixed.bytes);
  expect(own.picture?.times).toEqual(fixed.picture?.times);
  const { mean } = await measureLikeness(auto.path, clip);
  expect(mean).toBeGreaterThan(0.97);
});
