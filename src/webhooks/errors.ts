import { MediaError } from "../media/errors.ts";

/** The errors of verifying a webhook: the kind, the English and the field at fault of each. */
export const errors = {
  notSigned: () =>
    new MediaError("forbidden", "The webhook was not signed by this secret within the last five minutes."),
  eventUnknown: ({ cause }: { cause: unknown }) =>
    new MediaError("request_invalid", "The body is signed, but is not an event that this version knows.", {
      cause,
    }),
  secretMalformed: () =>
    new MediaError("request_invalid", "secret must be the text that begins with whsec_.", {
      param: "secret",
    }),
};
