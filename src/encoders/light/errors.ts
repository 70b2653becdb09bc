import { MediaError } from "../../media/errors.ts";

export const notJob = () =>
  new MediaError("request_invalid", "The message is not a job for the light encoder.");
export const largeRequest = ({ maxBytes }: { maxBytes: number }) =>
  new MediaError("payload_too_large", `At most ${maxBytes} bytes of input are taken.`);

export const scatteredInput = ({ job }: { job: "probe" | "encode" }) =>
  new MediaError(
    job === "probe" ? "probe_failed" : "encoder_unavailable",
    "The input's layout would require reading from too many places.",
  );
export const shortInput = () =>
  new MediaError("input_unreachable", "The input is shorter than its stated size.");
export const lost = (cause?: { cause: unknown }) =>
  new MediaError("worker_lost", "The light encoder went away during the work.", cause);
export const badStatus = ({ status }: { status: number }) =>
  new MediaError("worker_lost", `The light encoder answered with status ${status}.`);
export const reportMissing = () => new MediaError("probe_failed", "The light encoder returned no report.");
