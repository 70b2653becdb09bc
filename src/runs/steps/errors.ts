import { MediaError } from "../../media/errors.ts";

const MAX_LISTED_LETTERS = 8;

/** The errors of steps at work, each built from its facts. */
export const errors = {
  inputGone: () =>
    new MediaError("input_not_found", "This file no longer exists; outputs are kept for a limited time."),
  inputChanged: () =>
    new MediaError(
      "input_changed",
      "The source changed while it was probed; start again to process its current version.",
    ),
  inputTooLong: ({ seconds, maxSeconds }: { seconds: number; maxSeconds: number }) =>
    new MediaError(
      "input_too_large",
      `The input lasts ${Math.round(seconds)} seconds; the limit is ${maxSeconds}.`,
    ),
  extraInputTooLong: ({ seconds, maxSeconds }: { seconds: number; maxSeconds: number }) =>
    new MediaError("input_too_large", `It lasts ${Math.round(seconds)} seconds; the limit is ${maxSeconds}.`),
  /** The error of an extra input, which would otherwise seem to concern the main input. */
  ofOption: ({ param, error }: { param: string; error: MediaError }) => {
    const { kind, message, retryable, cause } = error;
    return new MediaError(kind, `${param}: ${message}`, { param, retryable, cause });
  },
  copyIncomplete: ({ received, stored }: { received: number; stored: number }) =>
    new MediaError("upload_failed", `${stored} of ${received} bytes were stored.`),

  encryptionKeyLost: () =>
    new MediaError(
      "encode_failed",
      "The key of the encryption is no longer stored; create the task again with it.",
      { retryable: false },
    ),

  fontMissing: () => new MediaError("encoder_unavailable", "There is no font here to draw subtitles with."),
  tooMuchText: ({ cues, letters }: { cues: number; letters: number }) =>
    new MediaError(
      "input_too_large",
      `At most ${cues} texts and ${letters.toLocaleString("en")} letters can be burnt in at once.`,
    ),
  lettersMissing: ({ letters }: { letters: readonly string[] }) => {
    const listed = letters.slice(0, MAX_LISTED_LETTERS).join(" ");
    const rest = letters.length - MAX_LISTED_LETTERS;
    return new MediaError(
      "input_unsupported",
      `The font of burnt-in subtitles has no letters for ${listed}${rest > 0 ? ` and ${rest} more` : ""}. Without burn they become a track, which players draw.`,
    );
  },
  burnWithoutEncode: () => new RangeError("Subtitles are drawn into encoded pictures."),
  fontLettersUnlisted: () => new RangeError("The font has no table of all its letters."),
  fontTableMissing: ({ name }: { name: string }) => new RangeError(`The font has no table ${name}.`),
};
