import { MediaError } from "../../media/errors.ts";
import type { Refusal } from "../../media/refusal.ts";
import { describeRefusals } from "../../media/words.ts";

interface Cause {
  cause: unknown;
}

interface Named {
  name: string;
}

/** The errors of the native encoders' client, each built from its facts. */
export const errors = {
  refused: ({ refusals }: { refusals: readonly Refusal[] }) =>
    new MediaError("encoder_unavailable", describeRefusals(refusals), { refusals }),
  urlsMissing: () =>
    new MediaError(
      "encoder_unavailable",
      "The native encoder is on another machine, but the job has no URLs to read from and write to.",
    ),
  unreachable: ({ name, cause }: Named & Cause) =>
    new MediaError("worker_lost", `The native encoder ${name} cannot be reached.`, { cause }),
  allUnreachable: (cause: Cause) => new MediaError("worker_lost", "No native encoder can be reached.", cause),
  allBusy: () =>
    new MediaError(
      "service_unavailable",
      "The picture needs a native encoder, and all of them are busy; try again in a few seconds.",
    ),

  badStatus: ({ name, status, cause }: Named & Cause & { status: number }) =>
    new MediaError(
      "worker_lost",
      `The native encoder ${name} ${status === 404 ? "has lost the job" : `answered with status ${status}`}.`,
      { cause },
    ),
  malformed: () => new MediaError("worker_lost", "The native encoder's answer is malformed."),
  rejected: ({ name, work, message }: Named & { work: "job" | "picture"; message: string }) =>
    new MediaError("encode_failed", `The native encoder ${name} did not accept the ${work}: ${message}`),

  late: ({ seconds }: { seconds: number }) => new Error(`did not answer within ${seconds} s`),
  endless: () => new Error("gave an endless answer"),
  pictureStatus: ({ status }: { status: number }) => new Error(`answered with status ${status}`),
  proxyAnswer: () => new Error("Only a proxy answered."),
  noEncoder: () => new Error("There is no native encoder."),
};
