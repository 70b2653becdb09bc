import type { ErrorReason } from "../../src/index.ts";
import { optionLabel } from "../../src/media/option-groups.ts";

// The labels of fields that are not options of a group, by their API names.
const FIELDS: Readonly<Record<string, string>> = {
  input: "Address",
  "options.format": "Format",
  "options.codec": "Codec",
};

/** Describes the reason of an error in this page's words; null when the error's own message is as good. */
export function reasonWords(reason: ErrorReason): string | null {
  switch (reason.code) {
    case "field": {
      const field = reason.field.replace(/\.\d+\./, ".");
      const label = FIELDS[field] ?? optionLabel(field.replace("options.", ""));
      return label ? `${label} ${reason.rule}` : null;
    }
    case "playlist":
      return "The file is a playlist; add the media itself.";
    case "no_sound":
      return "The source has no sound.";
    case "no_pictures":
      return `${reason.kind === "image" ? "An image" : "Video"} needs pictures, and the source has none.`;
    case "still_image":
      return "The source is a still image.";
    case "start_beyond_end":
      return `Start (${reason.start}) must be before the end of the source (${reason.duration} s).`;
    case "size_not_positive":
      return "The file size must be a number above 0.";
    case "size_unbounded":
      return "A file size applies to video and sound only; here the size in pixels and the quality decide.";
    case "size_lossless":
      return `${reason.format} is lossless and has no bitrate; a file size needs mp3, aac, ogg or opus.`;
    case "size_unknown_duration":
      return "The duration of the source is unknown, so File size cannot be met; use bitrate.";
    case "bytes_too_few":
      return `No picture fits into ${reason.max_bytes} bytes; the least takes ${reason.least_bytes}.`;
    case "size_too_small":
      return `File size (${reason.bytes}) is too small for ${reason.duration} seconds with these options.`;
    case "after":
    case "no_answer":
      return null;
  }
}
