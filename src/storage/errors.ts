import { type ErrorKind, MediaError, type MediaErrorOptions } from "../media/errors.ts";

interface Cause {
  cause: unknown;
}

export const objectNotFound = ({ key }: { key: string }) =>
  new MediaError("media_not_found", `Nothing is stored as ${key}.`);
export const objectChanged = ({ key, cause }: { key: string; cause?: unknown }) =>
  new MediaError("internal_error", `The object stored as ${key} changed while it was being read.`, {
    cause,
  });
export const encodedFileGone = (step: "encode" | "upload") =>
  new MediaError(`${step}_failed`, "The encoded file is no longer in storage.");
export const uploadIncomplete = ({ size, storedBytes }: { size: number; storedBytes: number }) =>
  new MediaError("upload_failed", `${storedBytes} of the ${size} bytes sent are stored.`);
export const prefixEmpty = () => new Error("Storage is not cleared without a prefix.");
export const tooManyBytes = ({ maxBytes }: { maxBytes: number }) =>
  new RangeError(`There are more than ${maxBytes} bytes.`);

export const fileUnreadable = ({ name, cause }: { name: string | null; cause?: unknown }) =>
  new MediaError(
    "input_unreachable",
    `The file${name === null ? "" : ` ${name}`} can no longer be read: it was changed, moved or deleted after it was chosen. Choose it again.`,
    { cause, retryable: false },
  );
export const inputTooShort = () =>
  new MediaError("input_unreachable", "The input is shorter than its stated size.");

export const opfsDenied = (cause: Cause) =>
  new MediaError(
    "service_unavailable",
    "The browser denies this page a file system of its own, as in some private windows.",
    { ...cause, retryable: false },
  );
export const opfsAccessDenied = () =>
  new MediaError("service_unavailable", "The browser denies access to its files.");
export const opfsFolderMissing = ({ key }: { key: string }) =>
  new MediaError("internal_error", `There is no folder for ${key}.`);
export const opfsFull = (cause?: Cause) =>
  new MediaError(
    "storage_full",
    "The browser has no room left for this page; delete finished tasks, or free space on the disk.",
    cause,
  );
export const opfsTooSmall = ({ bytes, freeBytes }: { bytes: number; freeBytes: number }) =>
  new MediaError(
    "storage_full",
    `This needs ${inUnits(bytes)} of room, and the browser has ${inUnits(freeBytes)} left for this page; delete finished tasks, or free space on the disk.`,
  );

function inUnits(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Why a body broke off: the end of the message of `brokenOff`. */
export const breaks = {
  endedEarly: () => "the body ended early",
  connectionLost: () => "the connection was lost",
  notAnsweredAgain: () => "the source did not answer again",
  silent: ({ seconds }: { seconds: number }) => `nothing came for ${seconds} s`,
};

// These name only the host of a URL, because the rest may be secret.

export const hostPrivate = ({ host }: { host: string }) =>
  new MediaError("input_forbidden", `The host ${host} is not public; use a public address.`);
export const addressPrivate = ({ host }: { host: string }) =>
  new MediaError("input_forbidden", `The host ${host} has an address that is not public; use a public one.`);
export const urlMalformed = () => new MediaError("input_forbidden", "The source's address is not a URL.");
export const urlNotHttp = ({ protocol }: { protocol: string }) =>
  new MediaError(
    "input_forbidden",
    `The source must be an http or https URL, not ${protocol.replace(":", "")}.`,
  );
export const urlWithUser = () =>
  new MediaError("input_forbidden", "The source's URL must not contain a user name or password.");

export const notFound = ({ url, status }: { url: string; status: number }) =>
  new MediaError("input_not_found", `There is no such file at ${hostOf(url)} (it answered ${status}).`);
export const forbidden = ({ url, status }: { url: string; status: number }) =>
  new MediaError("input_forbidden", `${hostOf(url)} refuses access to the source (it answered ${status}).`);
export const failed = ({ url, status, retryable }: { url: string; status: number; retryable: boolean }) =>
  unreachable(url, `answered ${status}`, { retryable });
export const noAnswer = ({ url, cause }: { url: string } & Cause) => {
  const host = hostOf(url);
  return new MediaError("input_unreachable", `The source at ${host} could not be reached.`, {
    cause,
    reason: { code: "no_answer", from: "source", host },
  });
};
export const headersLate = ({ url, seconds, cause }: { url: string; seconds: number } & Cause) =>
  unreachable(url, `did not answer within ${seconds} s`, { retryable: true, cause });
export const redirectLoop = ({ url }: { url: string }) =>
  unreachable(url, "redirects in a loop", { retryable: false });
export const tooManyRedirects = ({ url, max }: { url: string; max: number }) =>
  unreachable(url, `redirects more than ${max} times`, { retryable: false });
export const redirectEmpty = ({ url }: { url: string }) =>
  unreachable(url, "redirects to nowhere", { retryable: false });
export const noRanges = ({ url }: { url: string }) =>
  unreachable(url, "does not support range requests", { retryable: false });
export const rangeNotSent = ({ url }: { url: string }) =>
  unreachable(url, "did not send the requested range", { retryable: true });
export const changed = ({ url }: { url: string }) =>
  unreachable(url, "changed while it was being read", { retryable: true });
export const pinnedChanged = () =>
  new MediaError(
    "input_changed",
    "The source changed while it was in use; start again to process its current version.",
  );
export const sizeChanged = ({ url, first, second }: { url: string; first: number; second: number | null }) =>
  unreachable(url, `first declared ${first} bytes and then ${second === null ? "no size" : second}`, {
    retryable: true,
  });
export const bodyTooLong = ({ url, size }: { url: string; size?: number }) =>
  unreachable(url, `sent more than ${size === undefined ? "" : `the ${size} bytes `}it declared`, {
    retryable: true,
  });
export const bodyTooShort = ({ url, received, size }: { url: string; received: number; size: number }) =>
  unreachable(url, `sent ${received} of ${size} bytes`, { retryable: true });
export const brokenOff = ({
  url,
  received,
  size,
  broken,
}: {
  url: string;
  received: number;
  size: number | null;
  broken: Error;
}) =>
  unreachable(
    url,
    `broke off after ${received}${size === null ? "" : ` of ${size}`} bytes: ${broken.message}`,
    { retryable: true, cause: broken },
  );
export const tooLarge = ({ size, maxBytes }: { size: number; maxBytes: number }) =>
  new MediaError("input_too_large", `The source has ${size} bytes; no more than ${maxBytes} are allowed.`);
export const tooLargeUndeclared = ({ maxBytes }: { maxBytes: number }) =>
  new MediaError("input_too_large", `The source has more than the ${maxBytes} bytes allowed.`);
export const memoryFull = ({ maxBytes }: { maxBytes: number }) =>
  new MediaError("input_too_large", `No more than ${maxBytes} bytes of files can be held in memory.`);
export const timeout = ({ seconds }: { seconds: number }) =>
  new MediaError("timeout", `Fetching the source took longer than ${seconds} s.`);

export const outputNoAnswer = ({ url, cause }: { url: string } & Cause) => {
  const host = hostOf(url);
  return new MediaError("upload_failed", `The output's store at ${host} could not be reached.`, {
    cause,
    reason: { code: "no_answer", from: "output", host },
  });
};
export const outputAnswerInvalid = ({ url, cause }: { url: string } & Cause) =>
  new MediaError("upload_failed", `The output's store at ${hostOf(url)} sent no valid response.`, {
    cause,
  });
export const outputFull = ({ url, message }: { url: string; message: string }) =>
  new MediaError("storage_full", `The output's store at ${hostOf(url)} is full${ending(message)}`);
export const outputForbidden = ({ url, status, message }: { url: string; status: number; message: string }) =>
  new MediaError(
    "upload_forbidden",
    `${hostOf(url)} refuses the output (it answered ${status})${ending(message)}`,
  );
export const outputRefused = ({
  url,
  status,
  message,
  retryable,
}: {
  url: string;
  status: number;
  message: string;
  retryable: boolean;
}) =>
  new MediaError(
    "upload_failed",
    `${hostOf(url)} did not accept the output (it answered ${status})${ending(message)}`,
    { retryable },
  );

function unreachable(
  url: string,
  clause: string,
  options: Pick<MediaErrorOptions, "retryable" | "cause">,
): MediaError {
  return new MediaError("input_unreachable", `The source at ${hostOf(url)} ${clause}.`, options);
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "the given address";
}

function ending(message: string): string {
  return message ? `: ${message}` : ".";
}

/** The purpose of a request, which determines the kind of its error. */
export type S3Purpose = "read" | "write";

/** A request that a bucket did not grant. */
interface Denied {
  purpose: S3Purpose;
  host: string;
  bucket: string;
  status: number;
  /** The service's code, such as `NoSuchBucket`; empty when there was none. */
  code: string;
  cause: unknown;
}

const S3_KINDS = {
  refused: { read: "input_forbidden", write: "upload_forbidden" },
  missing: { read: "input_not_found", write: "upload_failed" },
  other: { read: "input_unreachable", write: "upload_failed" },
} as const satisfies Record<string, Record<S3Purpose, ErrorKind>>;

// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, plus codes of R2, Ceph, MinIO and Backblaze.
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ["AccessDenied", "the key has no permission for this, or a signed URL has expired"],
  ["AccountProblem", "there is a problem with the account"],
  ["AllAccessDisabled", "access is disabled"],
  ["AuthorizationHeaderMalformed", "the region is not the bucket's"],
  ["AuthorizationQueryParametersError", "the signed URL is invalid"],
  ["ExpiredToken", "the session token has expired"],
  ["InvalidAccessKeyId", "it does not know the access key id"],
  ["InvalidToken", "the session token is invalid"],
  ["RequestExpired", "the signed request has expired"],
  ["RequestTimeTooSkewed", "the clock of this machine differs too much from its own; set it right"],
  ["SignatureDoesNotMatch", "the signature is wrong, as happens with a wrong secret access key"],
  ["TokenRefreshRequired", "the session token has expired"],
  ["Unauthorized", "it does not know the access key id"],
]);

/** Whether a code of the service means that it refuses access. */
export function isRefusal(code: string): boolean {
  return REFUSALS.has(code);
}

const ANSWER_PARTS = {
  uploadId: "id of the upload",
  parts: "list of the parts",
  keys: "list of keys",
} as const;

// These quote only the service's code, because its message may contain secrets.

export const s3UrlMalformed = () =>
  new MediaError("invalid_output", "An S3 URL must have the shape s3://<bucket>/<key>.");
export const endpointMalformed = () =>
  new MediaError("request_invalid", "endpoint must be a URL that starts with https:// or http://.", {
    param: "endpoint",
  });
export const keyNotUnicode = () => invalidKey("must be well-formed Unicode text");
export const keyTooLong = ({ maxBytes }: { maxBytes: number }) =>
  invalidKey(`must not be longer than ${maxBytes} bytes`);
export const keyWithDots = () => invalidKey("must not have . or .. between slashes");

export const s3NoAnswer = ({ purpose, host, cause }: Pick<Denied, "purpose" | "host" | "cause">) =>
  new MediaError(S3_KINDS.other[purpose], `The storage at ${host} could not be reached.`, {
    cause,
    retryable: true,
    reason: { code: "no_answer", from: "storage", host },
  });
export const bucketFull = (denied: Denied) =>
  refusal("storage_full", denied, `The storage at ${denied.host} has no room left`);
export const bucketNotFound = (denied: Denied) =>
  refusal(S3_KINDS.missing[denied.purpose], denied, `There is no bucket ${denied.bucket} at ${denied.host}`);
export const bucketElsewhere = (denied: Denied) =>
  refusal(
    S3_KINDS.other[denied.purpose],
    denied,
    `The bucket ${denied.bucket} is not at ${denied.host}: give the endpoint of its region`,
  );
export const bucketRefused = (denied: Denied) => {
  const why = REFUSALS.get(denied.code);
  return refusal(
    S3_KINDS.refused[denied.purpose],
    denied,
    `${denied.host} refuses access to the bucket ${denied.bucket}${why ? `: ${why}` : ""}`,
  );
};
export const s3ObjectNotFound = (denied: Denied) =>
  refusal(
    "input_not_found",
    denied,
    `There is no such object in the bucket ${denied.bucket} at ${denied.host}`,
  );
export const s3Failed = ({ retryable, ...denied }: Denied & { retryable: boolean }) => {
  const failure = denied.purpose === "read" ? "did not send the object" : "did not accept the object";
  return refusal(S3_KINDS.other[denied.purpose], denied, `${denied.host} ${failure}`, retryable);
};
export const answerIncomplete = ({ lacks }: { lacks: keyof typeof ANSWER_PARTS }) =>
  new MediaError("upload_failed", `The storage's answer has no ${ANSWER_PARTS[lacks]}.`, {
    retryable: false,
  });
export const etagHidden = () =>
  new MediaError(
    "upload_failed",
    "The storage shows no ETag: for pages, the CORS rules of the bucket must expose ETag.",
    { retryable: false },
  );
export const rangeHidden = () =>
  new MediaError(
    "input_unreachable",
    "The storage does not say which bytes it sent: for pages, the CORS rules of the bucket must expose Content-Range.",
    { retryable: false },
  );

export const uploadAborted = () => new MediaError("upload_failed", "The upload was aborted elsewhere.");
export const tooManyParts = ({ max }: { max: number }) =>
  new MediaError("upload_failed", `The object has more than ${max} parts.`, { retryable: false });

export const xmlTooLong = () => new Error("The XML is too long.");
export const xmlTooDeep = () => new Error("The XML is nested too deeply.");
export const xmlNotOpen = () => new Error("The XML closes an element that is not open.");
export const xmlNotResponse = () => new Error("This is not the XML of a response.");
export const xmlEntityUnknown = ({ entity }: { entity: string }) =>
  new Error(`The XML has an unknown entity ${entity}.`);

function invalidKey(rule: string): MediaError {
  return new MediaError("invalid_output", `The key of an S3 object ${rule}.`);
}

function refusal(
  kind: ErrorKind,
  { status, code, cause }: Denied,
  clause: string,
  retryable = false,
): MediaError {
  const answer = `(it answered ${status}${/^\w{1,60}$/.test(code) ? ` ${code}` : ""})`;
  return new MediaError(kind, `${clause} ${answer}.`, { cause, retryable });
}
