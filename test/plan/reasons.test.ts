import { expect, test } from "vitest";
import { MediaError } from "../../src/media/errors.ts";
import { optionsForSize } from "../../src/media/target-size.ts";
import { parseOptions } from "../core/parse-options.ts";
import { audioSource, imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const silent = videoSource({ codecs: { video: "h264", audio: null } });
const { duration: _, ...endless } = videoSource();

test.for([
  {
    call: () => createPlan(silent, "audio", {}),
    kind: "input_no_audio",
    message: "The source has no sound; use kind video or image.",
    reason: { code: "no_sound" },
  },
  {
    call: () => createPlan(imageSource(), "video", {}),
    kind: "input_no_video",
    message: "The source is a still image; use kind image.",
    reason: { code: "still_image" },
  },
  {
    call: () => createPlan(audioSource(), "image", {}),
    kind: "input_no_video",
    message: "An image needs pictures, and the source has none; use kind audio.",
    reason: { code: "no_pictures", kind: "image" },
  },
  {
    call: () => createPlan(imageSource(), "image", { start: 1 }),
    kind: "invalid_options",
    message: "options.start needs a source with a timeline; this is a still image.",
    reason: {
      code: "field",
      field: "options.start",
      rule: "needs a source with a timeline; this is a still image.",
    },
  },
  {
    call: () => createPlan(silent, "video", { start: 10 }),
    kind: "invalid_options",
    message: "options.start (10) must be before the end of the source (10 s).",
    reason: { code: "start_beyond_end", start: 10, duration: 10 },
  },
  {
    call: () => createPlan(silent, "video", { target_size: 1000 }),
    kind: "invalid_options",
    message:
      "options.target_size (1000) is too small for 10 seconds with these options; the minimum is 42334.",
    reason: { code: "size_too_small", bytes: 1000, duration: 10, min_bytes: 42_334 },
  },
  {
    call: () => createPlan(endless, "video", { target_size: 1000 }),
    kind: "invalid_options",
    message: "The duration of the source is unknown, so options.target_size cannot be met; use bitrate.",
    reason: { code: "size_unknown_duration" },
  },
  {
    call: () => optionsForSize("video", {}, silent, 0),
    kind: "invalid_options",
    message: "The target size must be a number above 0.",
    reason: { code: "size_not_positive" },
  },
  {
    call: () => optionsForSize("audio", { format: "flac" }, audioSource(), 1_000_000),
    kind: "invalid_options",
    message: "flac is lossless and has no bitrate; a target size needs mp3, aac, ogg or opus.",
    reason: { code: "size_lossless", format: "flac" },
  },
  {
    call: () => optionsForSize("image", {}, silent, 1000),
    kind: "invalid_options",
    message: "A target size applies to video and sound only; here the size in pixels and the quality decide.",
    reason: { code: "size_unbounded" },
  },
  {
    call: () => parseOptions("video", { end: 2, start: 3 }),
    kind: "invalid_options",
    message: "options.end (2) must be after options.start (3).",
    reason: { code: "field", field: "options.end", rule: "must be after the start (3)." },
  },
  {
    call: () => parseOptions("video", { bitrate: 1_000_000, target_size: 1_000_000 }),
    kind: "invalid_options",
    message: "options.target_size and options.bitrate cannot both be given.",
    reason: { code: "field", field: "options.target_size", rule: "cannot be given together with a bitrate." },
  },
] as { call: () => unknown; kind: string; message: string; reason: object }[])(
  "an error carries its reason as data: %#",
  ({ call, kind, message, reason }) => {
    expect(caught(call)).toEqual([kind, message, reason]);
  },
);

test("target_size may be the minimum that an error names", () => {
  expect(createPlan(silent, "video", { target_size: 42_334 })).toMatchObject({ video: { mode: "encode" } });
});

function caught(call: () => unknown): unknown {
  try {
    return call();
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    return [thrown.kind, thrown.message, thrown.reason];
  }
}
