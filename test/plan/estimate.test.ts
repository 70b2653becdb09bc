import { expect, test } from "vitest";
import { estimateWork } from "../../src/media/index.ts";
import { audioSource, imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const HD = 1920 * 1080;
const nothing = {
  frame_decoded: 0,
  decoders: 1,
  frame_encoded: 0,
  frames_decoded: 0,
  frames_encoded: 0,
  pixels_decoded: 0,
  pixels_encoded: 0,
  pixels_held: 0,
  audio_seconds: 0,
  seconds: 10,
};

test("a copy costs nothing", () => {
  const source = videoSource();
  expect(estimateWork(createPlan(source, "video", {}), source)).toEqual(nothing);
});

test("counts the pictures and the audio of an encode", () => {
  const source = videoSource();
  expect(estimateWork(createPlan(source, "video", { width: 640, quality: "low", fps: 50 }), source)).toEqual({
    frame_decoded: HD,
    decoders: 1,
    frame_encoded: 640 * 360,
    frames_decoded: 250,
    frames_encoded: 500,
    pixels_decoded: 250 * HD,
    pixels_encoded: 500 * 640 * 360,
    pixels_held: 0,
    audio_seconds: 10,
    seconds: 10,
  });
});

test("counts the frames decoded before a start", () => {
  const source = videoSource({ duration: 100 });
  const of = (start: number) => estimateWork(createPlan(source, "video", { start, end: start + 4 }), source);
  expect(of(50)).toMatchObject({
    frames_decoded: (5 + 4) * 25,
    frames_encoded: 100,
    pixels_held: 0,
    audio_seconds: 4,
    seconds: 4,
  });
  expect(of(1).frames_decoded).toBe((1 + 4) * 25);
});

test("counts the encode of every rendition", () => {
  const source = videoSource({ width: 640, height: 360, coded_width: 640, coded_height: 360 });
  expect(estimateWork(createPlan(source, "adaptive_video", {}), source)).toMatchObject({
    frame_encoded: 640 * 360,
    frames_decoded: 250,
    frames_encoded: 500,
    pixels_encoded: 250 * (640 * 360 + 426 * 240),
    pixels_held: 0,
    audio_seconds: 10,
  });
});

test("counts one encoded picture for an image, and every frame of an animation", () => {
  const still = imageSource();
  expect(estimateWork(createPlan(still, "image", { width: 40 }), still)).toEqual({
    ...nothing,
    frame_decoded: 400 * 300,
    frame_encoded: 40 * 30,
    frames_decoded: 1,
    frames_encoded: 1,
    pixels_decoded: 400 * 300,
    pixels_encoded: 40 * 30,
    seconds: 0,
  });
  const video = videoSource({ duration: 100 });
  expect(estimateWork(createPlan(video, "image", { start: 50 }), video)).toMatchObject({
    frames_decoded: 125,
    frames_encoded: 1,
  });
  const gif = imageSource({ format: "gif", animated: true, duration: 2, fps: 10 });
  expect(estimateWork(createPlan(gif, "image", {}), gif)).toMatchObject({
    frames_decoded: 20,
    frames_encoded: 20,
    seconds: 2,
  });
});

test("counts seconds only for audio", () => {
  const source = audioSource();
  const work = estimateWork(createPlan(source, "audio", { end: 3 }), source);
  expect(work).toEqual({ ...nothing, audio_seconds: 3, seconds: 3 });
});

test("leaves the totals unknown without a duration", () => {
  const { duration, ...endless } = videoSource();
  expect(duration).toBe(10);
  expect(estimateWork(createPlan(endless, "video", { quality: "low" }), endless)).toMatchObject({
    frame_decoded: HD,
    frames_decoded: null,
    frames_encoded: null,
    pixels_decoded: null,
    pixels_encoded: null,
    pixels_held: 0,
    audio_seconds: null,
    seconds: null,
  });
});

test("counts 30 pictures a second if the source states no rate", () => {
  const { fps, ...recorded } = videoSource();
  expect(fps).toBe(25);
  expect(estimateWork(createPlan(recorded, "video", { quality: "low" }), recorded)).toMatchObject({
    frames_decoded: 300,
    frames_encoded: 300,
  });
});
