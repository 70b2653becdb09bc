import type { ErrorReason } from "./error-reason.ts";
import { type ErrorKind, MediaError, type MediaErrorOptions } from "./errors.ts";

// The error of a field is created where its rules are.
type Described = Exclude<ErrorReason, { code: "field" }>;

const HOSTS = {
  source: "The source",
  output: "The output's store",
  storage: "The storage",
} as const;
const NEEDS = {
  video: "Video needs pictures",
  image: "An image needs pictures",
  animation: "An animation needs pictures",
  storyboard: "A storyboard needs pictures",
} as const;

const ENDS = { failed: "failed", cancelled: "was cancelled", deleted: "was deleted" } as const;

/** Creates the error for a reason, with a sentence as its message. */
export function errorFor(kind: ErrorKind, reason: Described, options: MediaErrorOptions = {}): MediaError {
  return new MediaError(kind, describeReason(reason), { ...options, reason });
}

function describeReason(reason: Described): string {
  switch (reason.code) {
    case "playlist":
      return "The file is a playlist; pass the media itself.";
    case "no_sound":
      return "The source has no sound; use kind video or image.";
    case "no_pictures":
      return `${NEEDS[reason.kind]}, and the source has none; use kind audio.`;
    case "still_image":
      return "The source is a still image; use kind image.";
    case "start_beyond_end":
      return `options.start (${reason.start}) must be before the end of the source (${reason.duration} s).`;
    case "after":
      return `The input is the output of ${reason.task}, which ${ENDS[reason.ended]}.`;
    case "size_not_positive":
      return "The target size must be a number above 0.";
    case "size_unbounded":
      return "A target size applies to video and sound only; here the size in pixels and the quality decide.";
    case "size_lossless":
      return `${reason.format} is lossless and has no bitrate; a target size needs mp3, aac, ogg or opus.`;
    case "size_unknown_duration":
      return "The duration of the source is unknown, so options.target_size cannot be met; use bitrate.";
    case "bytes_too_few":
      return `options.max_bytes (${reason.max_bytes}) is too small for this picture; its least quality and size take ${reason.least_bytes}.`;
    case "size_too_small":
      return `options.target_size (${reason.bytes}) is too small for ${reason.duration} seconds with these options.`;
    case "no_answer":
      return `${HOSTS[reason.from]} at ${reason.host} could not be reached.`;
  }
}
