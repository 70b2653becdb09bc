import { MediaError } from "../../src/media/errors.ts";

/** The errors of the light encoder, each built from its facts. */
export const errors = {
  typeInvalid: ({ mime }: { mime: string }) =>
    new MediaError("request_invalid", `The body must be of type ${mime}.`),
  queueFull: () => new MediaError("service_unavailable", "The light encoder is busy; try again soon."),
  placeLost: () => new MediaError("service_unavailable", "The job lost its place in the queue."),
  jobLate: () => new MediaError("timeout", "The job did not arrive in time."),
  inputLate: () => new MediaError("timeout", "The input did not arrive in time."),
  requestLate: () => new MediaError("timeout", "The request did not end in time."),
  answerLate: () => new MediaError("timeout", "The answer was not read in time."),
};
