import { type ErrorKind, MediaError } from "../../core/errors.ts";
import { isTransient } from "../../util/async.ts";
import { errorFor } from "../../words/reason-words.ts";
import { readXml, textOf } from "./s3-xml.ts";

/** The purpose of a request, which determines the kind of its error. */
export type S3Purpose = "read" | "write";

/** What a service answered instead of the expected result. */
export interface S3Fault {
  /** 0 when there was no answer. */
  status: number;
  /** Such as `NoSuchBucket`; empty when there was none. */
  code: string;
  /** The service's clock in milliseconds since the Unix epoch; null when not stated. */
  server_ms: number | null;
}

// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, plus codes of R2, Ceph, MinIO and Backblaze.
const REFUSALS: Readonly<Record<string, string>> = {
  AccessDenied: "the key has no permission for this, or a signed URL has expired",
  AccountProblem: "there is a problem with the account",
  AllAccessDisabled: "access is disabled",
  AuthorizationHeaderMalformed: "the region is not the bucket's",
  AuthorizationQueryParametersError: "the signed URL is invalid",
  ExpiredToken: "the session token has expired",
  InvalidAccessKeyId: "it does not know the access key id",
  InvalidToken: "the session token is invalid",
  RequestExpired: "the signed request has expired",
  RequestTimeTooSkewed: "the clock of this machine differs too much from its own; set it right",
  SignatureDoesNotMatch: "the signature is wrong, as happens with a wrong secret access key",
  TokenRefreshRequired: "the session token has expired",
  Unauthorized: "it does not know the access key id",
};
const FULL: ReadonlySet<string> = new Set([
  "InsufficientStorage",
  "QuotaExceeded",
  "StorageFull",
  "XMinioAdminBucketQuotaExceeded",
  "XMinioStorageFull",
]);
const PASSING_CODES: ReadonlySet<string> = new Set([
  "BadDigest",
  "IncompleteBody",
  "InternalError",
  "OperationAborted",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
  "TooManyRequests",
  "XAmzContentSHA256Mismatch",
]);
const REDIRECTS: ReadonlySet<string> = new Set(["PermanentRedirect", "TemporaryRedirect", "Redirect"]);

const KINDS = {
  refused: { read: "input_forbidden", write: "upload_forbidden" },
  missing: { read: "input_not_found", write: "upload_failed" },
  other: { read: "input_unreachable", write: "upload_failed" },
} as const satisfies Record<string, Record<S3Purpose, ErrorKind>>;

/** Parses the error in a response and its text, which may be empty, as after a HEAD. */
export function readS3Fault({ status, headers }: Response, text: string): S3Fault {
  const date = timeOf(headers.get("date"));
  try {
    const error = readXml(text);
    if (error.name !== "Error") return { status, code: "", server_ms: date };
    return { status, code: textOf(error, "Code"), server_ms: timeOf(textOf(error, "ServerTime")) ?? date };
  } catch {
    return { status, code: "", server_ms: date };
  }
}

/** Returns whether the same request may succeed a little later. */
export function isPassing({ status, code }: S3Fault): boolean {
  return !isFull({ status, code }) && (status === 0 || isTransient(status) || PASSING_CODES.has(code));
}

/** Creates the error of a fault. It quotes only the service's code, because its message may contain secrets. */
export function toS3Error(
  fault: S3Fault,
  purpose: S3Purpose,
  { host, bucket }: { host: string; bucket: string },
  cause?: unknown,
): MediaError {
  const { status, code } = fault;
  const said = `(it answered ${status}${/^\w{1,60}$/.test(code) ? ` ${code}` : ""})`;
  const make = (kind: ErrorKind, message: string, retryable = false) =>
    new MediaError(kind, message, { cause, retryable });
  if (status === 0)
    return errorFor(
      KINDS.other[purpose],
      { code: "no_answer", from: "storage", host },
      { cause, retryable: true },
    );
  if (isFull(fault)) return make("storage_full", `The storage at ${host} has no room left ${said}.`);
  if (code === "NoSuchBucket")
    return make(KINDS.missing[purpose], `There is no bucket ${bucket} at ${host} ${said}.`);
  if (REDIRECTS.has(code) || (status >= 300 && status < 400))
    return make(
      KINDS.other[purpose],
      `The bucket ${bucket} is not at ${host}: give the endpoint of its region ${said}.`,
    );
  const why = Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : null;
  if (why || status === 401 || status === 403)
    return make(
      KINDS.refused[purpose],
      `${host} refuses access to the bucket ${bucket}${why ? `: ${why}` : ""} ${said}.`,
    );
  if (status === 404 && purpose === "read")
    return make("input_not_found", `There is no such object in the bucket ${bucket} at ${host} ${said}.`);
  const did = purpose === "read" ? "did not send the object" : "did not accept the object";
  return make(KINDS.other[purpose], `${host} ${did} ${said}.`, isPassing(fault));
}

function isFull({ status, code }: Pick<S3Fault, "status" | "code">): boolean {
  return status === 507 || FULL.has(code);
}

function timeOf(text: string | null): number | null {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? null : ms;
}
