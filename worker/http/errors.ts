import type { Context, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { z } from "zod";
import { ErrorReason } from "../../src/media/error-reason.ts";
import {
  type ErrorKind,
  MediaError,
  REQUEST_ERROR_KINDS,
  type RequestErrorKind,
  type RunErrorKind,
} from "../../src/media/errors.ts";
import * as errors from "../errors.ts";
import { logFault } from "../log.ts";
import type { ApiEnv } from "./context.ts";

/** The HTTP status of every error that a response can carry. */
export const STATUS = {
  request_invalid: 400,
  input_required: 400,
  invalid_input: 400,
  invalid_kind: 400,
  invalid_format: 400,
  invalid_codec: 400,
  invalid_options: 400,
  invalid_output: 400,
  connection_required: 400,
  token_missing: 401,
  token_invalid: 401,
  forbidden: 403,
  task_not_found: 404,
  step_not_found: 404,
  job_not_found: 404,
  connection_not_found: 404,
  endpoint_not_found: 404,
  delivery_not_found: 404,
  event_not_found: 404,
  key_not_found: 404,
  media_not_found: 404,
  route_not_found: 404,
  task_finished: 409,
  step_finished: 409,
  job_finished: 409,
  task_running: 409,
  step_running: 409,
  job_running: 409,
  connection_in_use: 409,
  endpoint_disabled: 409,
  idempotency_conflict: 409,
  payload_too_large: 413,
  idempotency_mismatch: 422,
  rate_limited: 429,
  quota_exceeded: 429,
  internal_error: 500,
  service_unavailable: 503,
} as const satisfies Record<RequestErrorKind, ContentfulStatusCode>;

/** The HTTP status of errors of work that a response waits for, such as an estimate. */
export const WORK_STATUS = {
  input_forbidden: 403,
  input_not_found: 404,
  input_too_large: 413,
  input_unsupported: 415,
  input_no_video: 415,
  input_no_audio: 415,
  probe_failed: 415,
  encoder_unavailable: 422,
  encode_failed: 422,
  encode_incomplete: 422,
  out_of_memory: 422,
  input_unreachable: 502,
  input_changed: 502,
  upload_failed: 503,
  storage_full: 503,
  worker_lost: 503,
  timeout: 504,
  stalled: 504,
} as const satisfies Partial<Record<RunErrorKind, ContentfulStatusCode>>;

/** The kind of an error of work that a response waits for. */
export type WorkErrorKind = keyof typeof WORK_STATUS;
export const WORK_ERROR_KINDS = Object.keys(WORK_STATUS) as WorkErrorKind[];

/** The body of every error response. */
export const ErrorBody = z
  .object({
    kind: z.enum([...REQUEST_ERROR_KINDS, ...WORK_ERROR_KINDS]).meta({
      description:
        "The kind of the error, from a closed set. The kinds from `input_forbidden` on occur only where the response waits for the work: at `/estimates`, `/previews` and `/image`.",
    }),
    message: z.string().meta({ description: "What is wrong and how to correct it." }),
    param: z.string().optional().meta({
      description: "Dotted path of the field at fault, where one field is.",
      example: "options.fps",
    }),
    reason: ErrorReason.optional().meta({
      description: "Distinguishes the error from others of its kind.",
    }),
    request_id: z.string().meta({ description: "Id of the request, as in the header `Request-Id`." }),
  })
  .meta({ id: "Error" });
/** The body of every error response. */
export type ErrorBody = z.infer<typeof ErrorBody>;

/** Whether an error is the caller's fault: the service created nothing, and the same request fails again. */
export function isRefusal(thrown: unknown): boolean {
  return thrown instanceof MediaError && isRequestError(thrown.kind) && STATUS[thrown.kind] < 500;
}

/** Responds to an error of a handler; nothing else maps errors to HTTP. Logs unknown errors and responds with a generic 500. */
export function answerError(thrown: unknown, c: Context<ApiEnv>): Response {
  const request_id = c.get("request_id");
  if (!(thrown instanceof MediaError) || !isRequestError(thrown.kind) || thrown.kind === "internal_error") {
    log(c, thrown);
    return c.json(
      { kind: "internal_error", message: errors.internal().message, request_id } satisfies ErrorBody,
      500,
    );
  }
  const { kind } = thrown;
  const status = STATUS[kind];
  if (status === 401) c.header("WWW-Authenticate", challenge(kind));
  if (status === 503) c.header("Retry-After", "5");
  if (status >= 500) log(c, thrown);
  return c.json(bodyOf(c, kind, thrown), status);
}

function bodyOf(
  c: Context<ApiEnv>,
  kind: ErrorBody["kind"],
  { message, param, reason }: MediaError,
): ErrorBody {
  const request_id = c.get("request_id");
  return { kind, message, ...(param !== undefined && { param }), ...(reason && { reason }), request_id };
}

/** Responds to a request that no route handles; `methods` are those that its path accepts. */
export function answerNoRoute(c: Context<ApiEnv>, methods: readonly string[] = []): Response {
  const { method } = c.req;
  // Still encoded: a decoded path may contain control characters of a terminal.
  const { pathname } = new URL(c.req.url);
  const path = pathname.length > 64 ? `${pathname.slice(0, 64)}…` : pathname;
  const error =
    methods.length > 0 ? errors.methodNotAllowed({ path, methods, method }) : errors.routeNotFound({ path });
  return answerError(error, c);
}

/** Wraps thrown values that are no Error, because Hono passes only Errors to its error handler. */
export const onlyErrors: MiddlewareHandler = async function onlyErrors(_, next) {
  try {
    await next();
  } catch (thrown) {
    throw thrown instanceof Error ? thrown : new Error(String(thrown));
  }
};

function isWorkError(kind: ErrorKind): kind is WorkErrorKind {
  return Object.hasOwn(WORK_STATUS, kind);
}

function isRequestError(kind: ErrorKind): kind is RequestErrorKind {
  return Object.hasOwn(STATUS, kind);
}

// https://www.rfc-editor.org/rfc/rfc6750#section-3
function challenge(kind: RequestErrorKind): string {
  const realm = 'Bearer realm="framewright"';
  return kind === "token_missing" ? realm : `${realm}, error="invalid_token"`;
}

// Logs the template of the path, because the path itself may contain a signature, which grants access.
function log(c: Context<ApiEnv>, thrown: unknown): void {
  const route = routePath(c, -1);
  logFault("fault", thrown, { request_id: c.get("request_id"), method: c.req.method, route });
}

/** Responds to an error of work that the response waited for, with the error's own kind; throws every other error again. */
export function answerWorkError(c: Context<ApiEnv>, thrown: unknown): Response {
  if (!(thrown instanceof MediaError) || !isWorkError(thrown.kind)) throw thrown;
  const status = WORK_STATUS[thrown.kind];
  if (status === 503) c.header("Retry-After", "5");
  return c.json(bodyOf(c, thrown.kind, thrown), status);
}
