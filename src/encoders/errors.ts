import { type ErrorKind, MediaError } from "../media/errors.ts";

interface Broken {
  /** The kind to report for a stream that breaks the protocol. */
  kind: ErrorKind;
}

/** The errors of encoding that every host may meet, each built from its facts. */
export const errors = {
  inputDamaged: () => new MediaError("input_unsupported", "The input is damaged or cut off."),
  notMedia: ({ isCutOff }: { isCutOff: boolean }) =>
    new MediaError(
      "input_unsupported",
      `The input is not media that can be read here${isCutOff ? ": it is damaged or cut off" : ""}.`,
    ),
  tooManyFrames: ({ max }: { max: number }) =>
    new MediaError("input_too_large", `An animated WebP may have at most ${max} frames.`),

  animationDamaged: () => new MediaError("encode_failed", "The encoded animation is damaged."),
  soundMissing: () =>
    new MediaError("encode_failed", "The encoder returned no sound that a waveform can be drawn from."),
  tooManyPoints: ({ max }: { max: number }) =>
    new MediaError(
      "encode_failed",
      `The waveform would have more than ${max} points; use more samples per pixel.`,
    ),
  peaksDamaged: () => new MediaError("encode_failed", "The encoder returned a broken list of peaks."),
  noPeaks: () => new RangeError("There are no peaks to join."),
  thumbnailUnread: () => new MediaError("internal_error", "The small picture is a PNG of another type."),

  frameCutOff: ({ kind }: Broken) => new MediaError(kind, "The message ends too early."),
  notFrame: ({ kind }: Broken) => new MediaError(kind, "The message is not a frame."),
};
