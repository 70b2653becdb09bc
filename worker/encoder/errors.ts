import { MediaError } from "../../src/media/errors.ts";

export const typeInvalid = ({ mime }: { mime: string }) =>
  new MediaError("request_invalid", `The body must be of type ${mime}.`);
export const queueFull = () =>
  new MediaError("service_unavailable", "The light encoder is busy; try again soon.");
export const placeLost = () => new MediaError("service_unavailable", "The job lost its place in the queue.");
export const jobLate = () => new MediaError("timeout", "The job did not arrive in time.");
export const inputLate = () => new MediaError("timeout", "The input did not arrive in time.");
export const requestLate = () => new MediaError("timeout", "The request did not end in time.");
export const answerLate = () => new MediaError("timeout", "The answer was not read in time.");
