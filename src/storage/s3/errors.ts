import { type ErrorKind, MediaError } from "../../media/errors.ts";

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

const KINDS = {
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

export const urlMalformed = () =>
  new MediaError("invalid_output", "An S3 URL must have the shape s3://<bucket>/<key>.");
export const endpointMalformed = () =>
  new MediaError("request_invalid", "endpoint must be a URL that starts with https:// or http://.", {
    param: "endpoint",
  });
export const keyNotUnicode = () => invalidKey("must be well-formed Unicode text");
export const keyTooLong = ({ maxBytes }: { maxBytes: number }) =>
  invalidKey(`must not be longer than ${maxBytes} bytes`);
export const keyWithDots = () => invalidKey("must not have . or .. between slashes");

export const noAnswer = ({ purpose, host, cause }: Pick<Denied, "purpose" | "host" | "cause">) =>
  new MediaError(KINDS.other[purpose], `The storage at ${host} could not be reached.`, {
    cause,
    retryable: true,
    reason: { code: "no_answer", from: "storage", host },
  });
export const full = (denied: Denied) =>
  refusal("storage_full", denied, `The storage at ${denied.host} has no room left`);
export const bucketNotFound = (denied: Denied) =>
  refusal(KINDS.missing[denied.purpose], denied, `There is no bucket ${denied.bucket} at ${denied.host}`);
export const bucketElsewhere = (denied: Denied) =>
  refusal(
    KINDS.other[denied.purpose],
    denied,
    `The bucket ${denied.bucket} is not at ${denied.host}: give the endpoint of its region`,
  );
export const refused = (denied: Denied) => {
  const why = REFUSALS.get(denied.code);
  return refusal(
    KINDS.refused[denied.purpose],
    denied,
    `${denied.host} refuses access to the bucket ${denied.bucket}${why ? `: ${why}` : ""}`,
  );
};
export const objectNotFound = (denied: Denied) =>
  refusal(
    "input_not_found",
    denied,
    `There is no such object in the bucket ${denied.bucket} at ${denied.host}`,
  );
export const failed = ({ retryable, ...denied }: Denied & { retryable: boolean }) => {
  const failure = denied.purpose === "read" ? "did not send the object" : "did not accept the object";
  return refusal(KINDS.other[denied.purpose], denied, `${denied.host} ${failure}`, retryable);
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
