import type { ErrorReason } from "../../core/error-reason.ts";
import { MediaError } from "../../core/errors.ts";
import type { Source } from "../../core/source.ts";
import { errorFor } from "../../words/reason-words.ts";
import { type StoredPicture, storedPicture } from "../size.ts";

type Pictured = Extract<ErrorReason, { code: "no_pictures" }>["kind"];

/** Returns the pictures of a source, which may be one alone; throws `input_no_video` or `input_unsupported`. */
export function anyPicture(source: Source, kind: Pictured): StoredPicture {
  if (!hasVideo(source)) {
    throw errorFor("input_no_video", { code: "no_pictures", kind });
  }
  const stored = storedPicture(source);
  if (stored) return stored;
  throw new MediaError("input_unsupported", "The size of the source's pictures could not be read.");
}

/** Returns the pictures of a video or an animation; throws as {@link anyPicture} does. */
export function movingPicture(source: Source, kind: Pictured = "video"): StoredPicture {
  if (source.kind === "image" && source.animated !== true) {
    throw errorFor("input_no_video", { code: "still_image" });
  }
  return anyPicture(source, kind);
}

/** Returns whether a source has pictures. */
export function hasVideo(source: Source): boolean {
  return source.codecs ? source.codecs.video !== null : source.kind !== "audio";
}
