import { MediaError } from "../../media/errors.ts";
import type { Refusal } from "../../media/refusal.ts";
import { describeRefusals } from "../../media/words.ts";

interface Cause {
  cause: unknown;
}

/** The errors of the browser's own encoders and decoders, each built from its facts. */
export const errors = {
  noPictures: () => new MediaError("input_no_video", "The source has no readable pictures."),
  codecUnsupported: () =>
    new MediaError("input_unsupported", "This browser cannot decode the source's pictures."),
  picturesUnreadable: (cause: Cause) =>
    new MediaError("encode_failed", "The source's pictures could not be decoded to the end.", cause),
  emptySpan: () => new MediaError("encode_failed", "There are no pictures in this span of the source."),

  refused: ({ refusals }: { refusals: readonly Refusal[] }) =>
    new MediaError("encoder_unavailable", describeRefusals(refusals), { refusals }),
  nothingToEncode: () => new MediaError("encode_failed", "There are no pictures to encode."),
  encoderFailed: ({ codec, cause }: Cause & { codec: string }) =>
    new MediaError("encode_failed", `The browser's ${codec} encoder failed.`, { cause }),
  encoderClosed: () => new MediaError("encode_failed", "The browser's encoder is closed."),
  cancelled: () => new MediaError("encode_failed", "The encode was cancelled."),
  soundMissing: () => new MediaError("encode_failed", "The sound encoder returned no file."),
  noCanvas: () => new RangeError("This browser has no canvas to draw on."),
  encoderMissing: ({ rendition }: { rendition: string }) =>
    new RangeError(`There is no encoder for ${rendition}.`),
};
