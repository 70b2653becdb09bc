import { type ErrorKind, MediaError } from "../../core/errors.ts";
import { isTransient } from "../../util/transient-status.ts";
import { errorFor } from "../../words/reason-words.ts";
import { readXml, textOf } from "./s3-xml.ts";

/** What a request is for; the kind of its error follows from it. */
export type S3Purpose = "read" | "write";

/** What a service answered in place of what was asked for. */
export interface S3Fault {
  /** 0 where there was no answer. */
  status: number;
  /** Such as `NoSuchBucket`; empty where none was given. */
  code: string;
  /** The time of the service in milliseconds since the Unix epoch, as far as it told. */
  server_ms: number | null;
}

// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, and what R2, Ceph, MinIO and Backblaze add.
const REFUSALS: Readonly<Record<string, string>> = {
  AccessDenied: "the key does not have the right to do that there, or a signed URL has expired",
  AccountProblem: "there is a problem with the account",
  AllAccessDisabled: "the access is turned off",
  AuthorizationHeaderMalformed: "the region is not that of the bucket",
  AuthorizationQueryParametersError: "the signed URL is not right",
  ExpiredToken: "the session token has expired",
  InvalidAccessKeyId: "it does not know the access key id",
  InvalidToken: "the session token is not right",
  RequestExpired: "the signed request has expired",
  RequestTimeTooSkewed: "the clock of this machine differs too much from its own; set it right",
  SignatureDoesNotMatch: "the signature is wrong, as it is with a wrong secret access key",
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

/** Reads what is wrong from an answer and its text, which may be empty, as that of a HEAD is. */
export function readS3Fault({ status, headers }: Response, text: string): S3Fault {
  const told = timeOf(headers.get("date"));
  try {
    const error = readXml(text);
    if (error.name !== "Error") return { status, code: "", server_ms: told };
    return { status, code: textOf(error, "Code"), server_ms: timeOf(textOf(error, "ServerTime")) ?? told };
  } catch {
    return { status, code: "", server_ms: told };
  }
}

/** True when the same request may do better a little later. */
export function isPassing({ status, code }: S3Fault): boolean {
  return !isFull({ status, code }) && (status === 0 || isTransient(status) || PASSING_CODES.has(code));
}

/** Makes the error of a fault; of what the service says only the code is told, as its words may hold what is secret. */
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
  const did = purpose === "read" ? "did not give the object" : "did not take the object";
  return make(KINDS.other[purpose], `${host} ${did} ${said}.`, isPassing(fault));
}

function isFull({ status, code }: Pick<S3Fault, "status" | "code">): boolean {
  return status === 507 || FULL.has(code);
}

function timeOf(text: string | null): number | null {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? null : ms;
}
