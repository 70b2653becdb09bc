import { type ErrorKind, MediaError } from "../media/errors.ts";

interface Broken {
  /** The kind to report for a stream that breaks the protocol. */
  kind: ErrorKind;
}

export const inputDamaged = () => new MediaError("input_unsupported", "The input is damaged or cut off.");
export const notMedia = ({ isCutOff }: { isCutOff: boolean }) =>
  new MediaError(
    "input_unsupported",
    `The input is not media that can be read here${isCutOff ? ": it is damaged or cut off" : ""}.`,
  );
export const tooManyFrames = ({ max }: { max: number }) =>
  new MediaError("input_too_large", `An animated WebP may have at most ${max} frames.`);

export const animationDamaged = () => new MediaError("encode_failed", "The encoded animation is damaged.");
export const soundMissing = () =>
  new MediaError("encode_failed", "The encoder returned no sound that a waveform can be drawn from.");
export const tooManyPoints = ({ max }: { max: number }) =>
  new MediaError(
    "encode_failed",
    `The waveform would have more than ${max} points; use more samples per pixel.`,
  );
export const peaksDamaged = () =>
  new MediaError("encode_failed", "The encoder returned a broken list of peaks.");
export const noPeaks = () => new RangeError("There are no peaks to join.");
export const thumbnailUnread = () =>
  new MediaError("internal_error", "The small picture is a PNG of another type.");

export const frameCutOff = ({ kind }: Broken) => new MediaError(kind, "The message ends too early.");
export const notFrame = ({ kind }: Broken) => new MediaError(kind, "The message is not a frame.");
