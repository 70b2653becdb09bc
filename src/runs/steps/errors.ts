import { MediaError } from "../../media/errors.ts";
import type { PictureSize } from "../../media/feature.ts";
import type { Refusal } from "../../media/refusal.ts";
import { describeRefusal } from "../../media/words.ts";

const MAX_LISTED_LETTERS = 8;

export const inputGone = () =>
  new MediaError("input_not_found", "This file no longer exists; outputs are kept for a limited time.");
export const inputChanged = () =>
  new MediaError(
    "input_changed",
    "The source changed while it was probed; start again to process its current version.",
  );
export const inputTooLong = ({ seconds, maxSeconds }: { seconds: number; maxSeconds: number }) =>
  new MediaError(
    "input_too_large",
    `The input lasts ${Math.round(seconds)} seconds; the limit is ${maxSeconds}.`,
  );
export const extraInputTooLong = ({ seconds, maxSeconds }: { seconds: number; maxSeconds: number }) =>
  new MediaError(
    "input_too_large",
    `The file lasts ${Math.round(seconds)} seconds; the limit is ${maxSeconds}.`,
  );
/** The error of an extra input, which would otherwise seem to concern the main input. */
export const ofOption = ({ param, error }: { param: string; error: MediaError }) => {
  const { kind, message, retryable, cause } = error;
  return new MediaError(kind, `${param}: ${message}`, { param, retryable, cause });
};
export const copyIncomplete = ({ received, stored }: { received: number; stored: number }) =>
  new MediaError("upload_failed", `${stored} of ${received} bytes were stored.`);

export const targetSizeMissed = ({ bytes, leastBytes }: { bytes: number; leastBytes: number }) =>
  new MediaError(
    "invalid_options",
    `options.target_size (${bytes}) is too small for this video; the smallest result has ${leastBytes} bytes.`,
    {
      param: "options.target_size",
      reason: { code: "bytes_too_few", max_bytes: bytes, least_bytes: leastBytes },
    },
  );

export const encryptionKeyLost = () =>
  new MediaError(
    "encode_failed",
    "The key of the encryption is no longer stored; create the task again with it.",
    { retryable: false },
  );

export const fontMissing = () =>
  new MediaError("encoder_unavailable", "This host has no font to draw text with.");
export const tooMuchText = ({ cues, letters }: { cues: number; letters: number }) =>
  new MediaError(
    "input_too_large",
    `At most ${cues} texts and ${letters.toLocaleString("en")} letters can be burnt in at once.`,
  );
export const burntLettersMissing = (letters: readonly string[]) =>
  new MediaError(
    "input_unsupported",
    `The fonts of burnt-in subtitles have no letters for ${list(letters)}; options.fonts takes fonts that have them. Without burn, the subtitles become a track, which players draw.`,
  );
export const lettersMissing = ({ param, letters }: { param: string; letters: readonly string[] }) =>
  new MediaError(
    "invalid_options",
    `${param} has letters that the fonts lack: ${list(letters)}; options.fonts takes fonts that have them.`,
    { param },
  );
export const lettersTooLarge = ({ param, maxHeight }: { param: string; maxHeight: number }) =>
  new MediaError(
    "invalid_options",
    `${param} makes so many letters too large to draw; it can be at most ${maxHeight} pixels.`,
    { param },
  );
export const textOutside = ({ param, width, height }: { param: string } & PictureSize) =>
  new MediaError(
    "invalid_options",
    `${param} puts the text outside the picture of ${width}x${height} pixels, where it would not be visible.`,
    { param },
  );
export const fontUnknown = ({ param, families }: { param: string; families: readonly string[] }) =>
  new MediaError("invalid_options", `${param} must be one of ${families.join(", ")}.`, { param });
export const burnWithoutEncode = () => new RangeError("Subtitles are drawn into encoded pictures.");

export const noPreview = () =>
  new MediaError("invalid_kind", "A waveform has no preview.", { param: "kind" });
export const notSeries = () => new RangeError("The request is not for a series of stills.");
export const notMeasurable = () =>
  new MediaError(
    "encode_failed",
    "The quality could not be measured, because a trial picture differs in size from its source; choose a quality other than auto.",
  );
export const notSampled = ({ refusal }: { refusal: Refusal }) =>
  new MediaError(
    "encoder_unavailable",
    `Previews and estimates run on the ${refusal.encoder} encoder, which cannot do this: ${describeRefusal(refusal)}.`,
    { refusals: [refusal] },
  );

function list(letters: readonly string[]): string {
  const rest = letters.length - MAX_LISTED_LETTERS;
  return `${letters.slice(0, MAX_LISTED_LETTERS).join(" ")}${rest > 0 ? ` and ${rest} more` : ""}`;
}
