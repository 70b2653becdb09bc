import { MediaError } from "../../media/errors.ts";

/** The errors of the light encoder's protocol and client, each built from its facts. */
export const errors = {
  notJob: () => new MediaError("request_invalid", "The message is not a job for the light encoder."),
  largeRequest: ({ maxBytes }: { maxBytes: number }) =>
    new MediaError("payload_too_large", `At most ${maxBytes} bytes of input are taken.`),

  scatteredInput: ({ job }: { job: "probe" | "encode" }) =>
    new MediaError(
      job === "probe" ? "probe_failed" : "encoder_unavailable",
      "The input's layout would require reading from too many places.",
    ),
  shortInput: () => new MediaError("input_unreachable", "The input is shorter than its stated size."),
  lost: (cause?: { cause: unknown }) =>
    new MediaError("worker_lost", "The light encoder went away during the work.", cause),
  badStatus: ({ status }: { status: number }) =>
    new MediaError("worker_lost", `The light encoder answered with status ${status}.`),
  reportMissing: () => new MediaError("probe_failed", "The light encoder returned no report."),
};
