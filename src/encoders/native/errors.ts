import { MediaError } from "../../media/errors.ts";
import type { Refusal } from "../../media/refusal.ts";
import { describeRefusals } from "../../media/words.ts";

interface Cause {
  cause: unknown;
}

interface Named {
  name: string;
}

export const refused = ({ refusals }: { refusals: readonly Refusal[] }) =>
  new MediaError("encoder_unavailable", describeRefusals(refusals), { refusals });
export const urlsMissing = () =>
  new MediaError(
    "encoder_unavailable",
    "The native encoder is on another machine, but the job has no URLs to read from and write to.",
  );
export const unreachable = ({ name, cause }: Named & Cause) =>
  new MediaError("worker_lost", `The native encoder ${name} cannot be reached.`, { cause });
export const allUnreachable = (cause: Cause) =>
  new MediaError("worker_lost", "No native encoder can be reached.", cause);
export const allBusy = () =>
  new MediaError(
    "service_unavailable",
    "The picture needs a native encoder, and all of them are busy; try again in a few seconds.",
  );

export const badStatus = ({ name, status, cause }: Named & Cause & { status: number }) =>
  new MediaError(
    "worker_lost",
    `The native encoder ${name} ${status === 404 ? "has lost the job" : `answered with status ${status}`}.`,
    { cause },
  );
export const malformed = () => new MediaError("worker_lost", "The native encoder's answer is malformed.");
export const rejected = ({ name, work, message }: Named & { work: "job" | "picture"; message: string }) =>
  new MediaError("encode_failed", `The native encoder ${name} did not accept the ${work}: ${message}`);

export const late = ({ seconds }: { seconds: number }) => new Error(`did not answer within ${seconds} s`);
export const endless = () => new Error("gave an endless answer");
export const pictureStatus = ({ status }: { status: number }) => new Error(`answered with status ${status}`);
export const proxyAnswer = () => new Error("Only a proxy answered.");
export const noEncoder = () => new Error("There is no native encoder.");
