import { MediaError } from "../../media/errors.ts";
import type { IdType } from "../../runs/ids.ts";

interface Cause {
  cause: unknown;
}

export const baseUrlNotHttp = () =>
  new MediaError("request_invalid", "baseUrl must be a URL that starts with http:// or https://.", {
    param: "baseUrl",
  });
export const baseUrlNotBare = () =>
  new MediaError("request_invalid", "baseUrl must not contain a user, password, query or fragment.", {
    param: "baseUrl",
  });
export const apiKeyMalformed = () =>
  new MediaError("token_invalid", "apiKey must be the text of a key, without spaces.", {
    param: "apiKey",
  });

export const notJson = (cause: Cause) =>
  new MediaError("request_invalid", "The request must be plain JSON.", cause);
export const recordNotFound = (type: Exclude<IdType, "request">) =>
  new MediaError(
    type === "upload" ? "media_not_found" : `${type}_not_found`,
    `There is no ${type} with that id.`,
  );
export const serviceUnreachable = (cause: Cause) =>
  new MediaError("service_unavailable", "The service could not be reached; try again.", cause);
export const serviceTimeout = ({ seconds, cause }: { seconds: number } & Cause) =>
  new MediaError("service_unavailable", `The service did not answer within ${seconds} s; try again.`, {
    cause,
  });
export const serviceFailed = ({ status, retryable }: { status: number; retryable: boolean }) => {
  const answer = status === 0 || (status >= 300 && status < 400) ? "a redirect" : `status ${status}`;
  const hint = retryable ? "try again" : "check that baseUrl is that of the service";
  return new MediaError("service_unavailable", `The service answered with ${answer}; ${hint}.`, {
    retryable,
  });
};
export const responseUnknown = (cause: Cause) =>
  new MediaError(
    "service_unavailable",
    "The response is not from the service, or from a version of it that this client does not know.",
    { retryable: false, ...cause },
  );
export const eventsSilent = ({ milliseconds }: { milliseconds: number }) =>
  new Error(`Nothing came for ${milliseconds} ms.`);

// `host` is that of the part's URL; the whole URL would grant access.
export const uploadForbidden = ({ host, status }: { host: string | undefined; status: number }) =>
  new MediaError("upload_forbidden", `${host ?? STORAGE} refuses the file (it answered ${status}).`);
export const uploadFull = ({ host }: { host: string | undefined }) =>
  new MediaError("storage_full", `The storage at ${host ?? STORAGE} is full.`);
export const uploadUnreachable = ({ host }: { host: string | undefined }) =>
  new MediaError("upload_failed", `${host ?? STORAGE} could not be reached when the file was sent.`, {
    retryable: true,
  });
export const uploadFailed = ({
  host,
  status,
  retryable,
}: {
  host: string | undefined;
  status: number;
  retryable: boolean;
}) =>
  new MediaError("upload_failed", `${host ?? STORAGE} answered ${status} when the file was sent.`, {
    retryable,
  });
export const partUnanswered = () => new Error("No answer came.");

const STORAGE = "the storage";
