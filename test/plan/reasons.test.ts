import { expect, test } from "vitest";
import { MediaError } from "../../src/media/errors.ts";
import { optionsForSize } from "../../src/media/target-size.ts";
import { parseOptions } from "../core/parse-options.ts";
import { audioSource, imageSource, videoSource } from "./source.ts";
import { createPlan } from "./strict-plan.ts";

const silent = videoSource({ codecs: { video: "h264", audio: null } });
const { duration: _, ...endless } = videoSource();

test.for([
  [
    () => createPlan(silent, "audio", {}),
    "input_no_audio",
    "The source has no sound; use kind video or image.",
    { code: "no_sound" },
  ],
  [
    () => createPlan(imageSource(), "video", {}),
    "input_no_video",
    "The source is a still image; use kind image.",
    { code: "still_image" },
  ],
  [
    () => createPlan(audioSource(), "image", {}),
    "input_no_video",
    "An image needs pictures, and the source has none; use kind audio.",
    { code: "no_pictures", kind: "image" },
  ],
  [
    () => createPlan(imageSource(), "image", { start: 1 }),
    "invalid_options",
    "options.start needs a source with a timeline; this is a still image.",
    { code: "field", field: "options.start", rule: "needs a source with a timeline; this is a still image." },
  ],
  [
    () => createPlan(silent, "video", { start: 10 }),
    "invalid_options",
    "options.start (10) must be before the end of the source (10 s).",
    { code: "start_beyond_end", start: 10, duration: 10 },
  ],
  [
    () => createPlan(silent, "video", { target_size: 1000 }),
    "invalid_options",
    "options.target_size (1000) is too small for 10 seconds with these options.",
    { code: "size_too_small", bytes: 1000, duration: 10 },
  ],
  [
    () => createPlan(endless, "video", { target_size: 1000 }),
    "invalid_options",
    "The duration of the source is unknown, so options.target_size cannot be met; use bitrate.",
    { code: "size_unknown_duration" },
  ],
  [
    () => optionsForSize("video", {}, silent, 0),
    "invalid_options",
    "The target size must be a number above 0.",
    { code: "size_not_positive" },
  ],
  [
    () => optionsForSize("audio", { format: "flac" }, audioSource(), 1_000_000),
    "invalid_options",
    "flac is lossless and has no bitrate; a target size needs mp3, aac, ogg or opus.",
    { code: "size_lossless", format: "flac" },
  ],
  [
    () => optionsForSize("image", {}, silent, 1000),
    "invalid_options",
    "A target size applies to video and sound only; here the size in pixels and the quality decide.",
    { code: "size_unbounded" },
  ],
  [
    () => parseOptions("video", { end: 2, start: 3 }),
    "invalid_options",
    "options.end (2) must be after options.start (3).",
    { code: "field", field: "options.end", rule: "must be after the start (3)." },
  ],
  [
    () => parseOptions("video", { bitrate: 1_000_000, target_size: 1_000_000 }),
    "invalid_options",
    "options.target_size and options.bitrate cannot both be given.",
    { code: "field", field: "options.target_size", rule: "cannot be given together with a bitrate." },
  ],
] as [() => unknown, string, string, object][])(
  "an error carries its reason as data: %#",
  ([call, kind, message, reason]) => {
    expect(caught(call)).toEqual([kind, message, reason]);
  },
);

function caught(call: () => unknown): unknown {
  try {
    return call();
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    return [thrown.kind, thrown.message, thrown.reason];
  }
}
