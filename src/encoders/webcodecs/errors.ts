import { MediaError } from "../../media/errors.ts";
import type { Refusal } from "../../media/refusal.ts";
import { describeRefusals } from "../../media/words.ts";

interface Cause {
  cause: unknown;
}

export const noPictures = () => new MediaError("input_no_video", "The source has no readable pictures.");
export const codecUnsupported = () =>
  new MediaError("input_unsupported", "This browser cannot decode the source's pictures.");
export const picturesUnreadable = (cause: Cause) =>
  new MediaError("encode_failed", "The source's pictures could not be decoded to the end.", cause);
export const emptySpan = () =>
  new MediaError("encode_failed", "There are no pictures in this span of the source.");

export const refused = ({ refusals }: { refusals: readonly Refusal[] }) =>
  new MediaError("encoder_unavailable", describeRefusals(refusals), { refusals });
export const nothingToEncode = () => new MediaError("encode_failed", "There are no pictures to encode.");
export const encoderFailed = ({ codec, cause }: Cause & { codec: string }) =>
  new MediaError("encode_failed", `The browser's ${codec} encoder failed.`, { cause });
export const encoderClosed = () => new MediaError("encode_failed", "The browser's encoder is closed.");
export const cancelled = () => new MediaError("encode_failed", "The encode was cancelled.");
export const soundMissing = () => new MediaError("encode_failed", "The sound encoder returned no file.");
export const noCanvas = () => new RangeError("This browser has no canvas to draw on.");
export const encoderMissing = ({ rendition }: { rendition: string }) =>
  new RangeError(`There is no encoder for ${rendition}.`);
