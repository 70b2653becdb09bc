import { MediaError } from "../media/errors.ts";

export const notSigned = () =>
  new MediaError("forbidden", "The webhook was not signed by this secret within the last five minutes.");
export const eventUnknown = ({ cause }: { cause: unknown }) =>
  new MediaError("request_invalid", "The body is signed, but is not an event that this version knows.", {
    cause,
  });
export const secretMalformed = () =>
  new MediaError("request_invalid", "secret must be the text that begins with whsec_.", {
    param: "secret",
  });
