import { MediaError } from "../../media/errors.ts";

interface Cause {
  cause: unknown;
}

export const pictureUnreadable = (cause?: Cause) =>
  new MediaError("input_unsupported", "The picture is damaged, or this browser cannot decode it.", cause);
export const pictureUndecoded = (cause: Cause) =>
  new MediaError("input_unsupported", "This browser cannot decode the picture.", cause);
export const heicDecoderUnloaded = (cause: Cause) =>
  new MediaError("encoder_unavailable", "The decoder of HEIC could not be loaded.", {
    ...cause,
    retryable: true,
  });
export const noCanvas = () => new MediaError("encoder_unavailable", "This browser has no canvas to draw on.");
export const nothingToEncode = () => new MediaError("encode_failed", "There is no picture to encode.");
export const formatUnwritten = ({ format }: { format: string }) =>
  new MediaError("encode_failed", `This browser wrote no ${format}.`);
export const avifUnencoded = () =>
  new MediaError("encode_failed", "The AVIF encoder could not encode the picture.");
export const avifUnloaded = (cause: Cause) =>
  new MediaError("encoder_unavailable", "The AVIF encoder could not be loaded.", {
    ...cause,
    retryable: true,
  });
export const badStatus = ({ status }: { status: number }) => new RangeError(`HTTP ${status}`);
