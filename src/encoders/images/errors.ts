import { MediaError } from "../../media/errors.ts";

interface Cause {
  cause: unknown;
}

/** The errors of pictures in a page, each built from its facts. */
export const errors = {
  pictureUnreadable: (cause?: Cause) =>
    new MediaError("input_unsupported", "The picture is damaged, or this browser cannot decode it.", cause),
  pictureUndecoded: (cause: Cause) =>
    new MediaError("input_unsupported", "This browser cannot decode the picture.", cause),
  heicDecoderUnloaded: (cause: Cause) =>
    new MediaError("encoder_unavailable", "The decoder of HEIC could not be loaded.", {
      ...cause,
      retryable: true,
    }),
  noCanvas: () => new MediaError("encoder_unavailable", "This browser has no canvas to draw on."),
  nothingToEncode: () => new MediaError("encode_failed", "There is no picture to encode."),
  formatUnwritten: ({ format }: { format: string }) =>
    new MediaError("encode_failed", `This browser wrote no ${format}.`),
  avifUnencoded: () => new MediaError("encode_failed", "The AVIF encoder could not encode the picture."),
  avifUnloaded: (cause: Cause) =>
    new MediaError("encoder_unavailable", "The AVIF encoder could not be loaded.", {
      ...cause,
      retryable: true,
    }),
  badStatus: ({ status }: { status: number }) => new RangeError(`HTTP ${status}`),
};
