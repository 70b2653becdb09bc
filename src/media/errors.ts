import type { ErrorReason } from "./error-reason.ts";
import type { Refusal } from "./refusal.ts";

/** Errors of a request: the response reports them, and nothing is created. */
export const REQUEST_ERROR_KINDS = [
  "request_invalid",
  "input_required",
  "invalid_input",
  "invalid_kind",
  "invalid_format",
  "invalid_codec",
  "invalid_options",
  "invalid_output",
  "connection_required",
  "token_missing",
  "token_invalid",
  "forbidden",
  "task_not_found",
  "step_not_found",
  "job_not_found",
  "connection_not_found",
  "endpoint_not_found",
  "delivery_not_found",
  "event_not_found",
  "key_not_found",
  "media_not_found",
  "route_not_found",
  "task_finished",
  "step_finished",
  "job_finished",
  "task_running",
  "step_running",
  "job_running",
  "connection_in_use",
  "endpoint_disabled",
  "idempotency_conflict",
  "idempotency_mismatch",
  "payload_too_large",
  "rate_limited",
  "quota_exceeded",
  "internal_error",
  "service_unavailable",
] as const;

/**
 * Why the local client's `fallback` did not take over work that no encoder in the page can do: it accepts only tasks
 * (`standalone_step`), the page no longer has one (`missing`), or it was unreachable, refused the task or lacks its file (`failed`).
 */
export const FALLBACK_FAULTS = ["standalone_step", "missing", "failed"] as const;
/** Why the local client's `fallback` did not take over work that no encoder in the page can do. */
export type FallbackFault = (typeof FALLBACK_FAULTS)[number];

/** Errors of a running step, stored in the `error` field of the step and its task. */
export const RUN_ERROR_KINDS = [
  "input_not_found",
  "input_forbidden",
  "input_unreachable",
  "input_too_large",
  "input_changed",
  "input_unsupported",
  "input_no_video",
  "input_no_audio",
  "probe_failed",
  "encoder_unavailable",
  "encode_failed",
  "encode_incomplete",
  "out_of_memory",
  "timeout",
  "stalled",
  "upload_failed",
  "upload_forbidden",
  "storage_full",
  "worker_lost",
] as const;

/** All kinds of errors that Framewright reports. */
export const ERROR_KINDS = [...REQUEST_ERROR_KINDS, ...RUN_ERROR_KINDS] as const;

/** The kind of an error of a request. */
export type RequestErrorKind = (typeof REQUEST_ERROR_KINDS)[number];
/** The kind of an error of a running step. */
export type RunErrorKind = (typeof RUN_ERROR_KINDS)[number];
/** Any kind of error that Framewright reports. */
export type ErrorKind = RequestErrorKind | RunErrorKind;

const RETRYABLE: ReadonlySet<ErrorKind> = new Set([
  "input_unreachable",
  "timeout",
  "stalled",
  "upload_failed",
  "worker_lost",
  "idempotency_conflict",
  "rate_limited",
  "internal_error",
  "service_unavailable",
]);

/** Options of a {@link MediaError}. */
export interface MediaErrorOptions extends ErrorOptions {
  /** Dotted path of the field at fault, such as `options.fps`. */
  param?: string | undefined;
  /** Whether another attempt may succeed; by default this follows from the kind. */
  retryable?: boolean | undefined;
  /** Distinguishes the error from others of its kind. */
  reason?: ErrorReason | undefined;
  /** Why each encoder refused the work, when none can do it. */
  refusals?: readonly Refusal[] | undefined;
}

/** The one error class of Framewright: branch on `kind`; `message` says what is wrong and how to fix it. */
export class MediaError extends Error {
  override readonly name = "MediaError";
  /** Kind of the error, from a closed set. */
  readonly kind: ErrorKind;
  /** Dotted path of the field at fault; undefined when no single field is. */
  readonly param: string | undefined;
  /** True when another attempt may succeed. */
  readonly retryable: boolean;
  /** Distinguishes the error from others of its kind, for code to branch on. */
  readonly reason: ErrorReason | undefined;
  /** Why each encoder refused the work, when none can do it; empty otherwise. */
  readonly refusals: readonly Refusal[];

  constructor(kind: ErrorKind, message: string, options: MediaErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
    this.param = options.param;
    this.retryable = options.retryable ?? RETRYABLE.has(kind);
    this.reason = options.reason;
    this.refusals = options.refusals ?? [];
  }
}

/** Converts a thrown value to a {@link MediaError}; an unknown error becomes a retryable `fallback` whose message reveals nothing. */
export function toMediaError(thrown: unknown, fallback: ErrorKind = "internal_error"): MediaError {
  if (thrown instanceof MediaError) return thrown;
  return new MediaError(fallback, "Something failed on our side; try again.", {
    cause: thrown,
    retryable: true,
  });
}

/** Creates the error of a field, such as `url` with the rule "must be a string.". */
export function invalid(param: string, rule: string, kind: ErrorKind = "request_invalid"): MediaError {
  const reason = { code: "field", field: param, rule } as const;
  return new MediaError(kind, `${param} ${rule}`, { param, reason });
}
