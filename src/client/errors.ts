import { MediaError } from "../media/errors.ts";
import type { IdType } from "../runs/ids.ts";

interface Cause {
  cause: unknown;
}

const ACCEPTED =
  "a URL (http, https, s3, data: or relative, as text or as a URL object), a File, Blob or file handle, " +
  "an ArrayBuffer or typed array, a Response, or a ReadableStream of bytes";
const HINTS: ReadonlyMap<string, string> = new Map([
  ["FileList", "; take one of its files"],
  ["Promise", "; await it"],
]);

const HANDLE_FAULTS: Readonly<Record<string, string>> = {
  NotAllowedError:
    "may not be read before the visitor allows it: call requestPermission() of its handle after a click",
  NotFoundError: "no longer exists: it was moved or deleted after it was chosen; choose it again",
  NotReadableError: "cannot be read: another program may be using it, or it changed after it was chosen",
};

export const momentInvalid = () =>
  new MediaError("invalid_options", "at must be a number: a time of the source in seconds, 0 or later.", {
    param: "at",
  });
export const viewInvalid = () =>
  new MediaError(
    "invalid_options",
    "view needs x and y of 0 or more, a width and a height above 0, and a scale above 0 up to 1.",
    { param: "view" },
  );
export const filmstripOptionUnknown = ({ name }: { name: string }) =>
  new MediaError(
    "request_invalid",
    `Unknown option "${name}" for a filmstrip; the options are count, height, partial, signal.`,
    { param: name },
  );
export const previewReplaced = () => new DOMException("A newer preview replaced this one.", "AbortError");
/** `type` is the name of a class, or what `typeof` returns for the value. */
export const notMedia = ({ type }: { type: string }) =>
  new MediaError(
    "request_invalid",
    `input must be ${ACCEPTED}; it is ${withArticle(type)}${HINTS.get(type) ?? ""}.`,
    { param: "input" },
  );
export const dataUrlMalformed = (cause?: Cause) =>
  invalidInput("must be a complete data: URL, of the form data:<type>;base64,<bytes>.", cause);
export const bufferDetached = () =>
  invalidInput("is a detached ArrayBuffer: it was transferred elsewhere, and its bytes went with it.");
export const responseOpaque = () =>
  invalidInput("is an opaque Response, whose bytes no script can read; fetch it with CORS.");
export const responseFailed = ({ status }: { status: number }) =>
  invalidInput(`is a Response of status ${status}, which contains no media.`);
export const responseUsed = () =>
  invalidInput("is a Response that was already read; clone it before you read it.");
export const streamLocked = () =>
  invalidInput("is a ReadableStream that is locked to another reader; release that reader first.");
export const streamUsed = (cause: Cause) =>
  invalidInput("is a ReadableStream that was already read in part; pass it unread.", cause);
export const streamNotBytes = ({ type }: { type: string }) =>
  invalidInput(`must be a ReadableStream of bytes: it yields ${withArticle(type)}, not a Uint8Array.`);
export const streamBroken = ({ cause }: Cause) => {
  const why = cause instanceof Error ? ` (${cause.message})` : "";
  return new MediaError("input_unreachable", `input: the stream broke off before its end${why}.`, {
    param: "input",
    retryable: false,
    cause,
  });
};
export const fileUnreadable = ({ name, cause }: { name: string } & Cause) => {
  const why = (cause instanceof Error && HANDLE_FAULTS[cause.name]) || "cannot be read";
  return new MediaError("input_unreachable", `The file ${name} ${why}.`, { cause, retryable: false });
};

export const outputMissing = ({ object, status }: { object: "task" | "step"; status: string }) =>
  new MediaError("media_not_found", `There is no output: the ${object} is ${status}, not succeeded.`);
export const probeOutputMissing = () =>
  new MediaError("media_not_found", "There is no output: a probe only inspects its input.");
export const outputElsewhere = () =>
  new MediaError("media_not_found", "The output is in the destination that the task named; open it there.");
export const outputNotFound = () =>
  new MediaError("media_not_found", "There is no such file; outputs are kept for a limited time.");
export const outputUrlExpired = () =>
  new MediaError("forbidden", "The media URL has expired; read the task again for a new one.");
export const outputNotSent = ({ status }: { status: number }) =>
  new MediaError(
    "service_unavailable",
    `The request for the media was answered with status ${status}; try again.`,
  );
export const outputConnectionLost = (cause: Cause) =>
  new MediaError("service_unavailable", "The connection to the media was lost; try again.", cause);
export const fileFull = (cause: Cause) =>
  new MediaError("storage_full", "There is no room for the file; free some space and save it again.", cause);
export const fileForbidden = (cause: Cause) =>
  new MediaError(
    "forbidden",
    "Writing the file is not allowed; ask the visitor for permission again.",
    cause,
  );
export const fileUnwritable = (cause: Cause) =>
  new MediaError("upload_failed", "The file could not be written.", cause);

export const jobNotFound = ({ id }: { id: string }) =>
  new MediaError("job_not_found", `The job ${id} no longer exists.`);
export const clientClosed = () =>
  new MediaError("service_unavailable", "The client is closed.", { retryable: false });

function invalidInput(rule: string, cause?: Cause): MediaError {
  return new MediaError("invalid_input", `input ${rule}`, { param: "input", ...cause });
}

function withArticle(type: string): string {
  return `${/^[AEIOU]/.test(type) ? "an" : "a"} ${type}`;
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
