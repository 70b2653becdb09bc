import { z } from "zod";
import { ErrorReason } from "../media/error-reason.ts";
import { ERROR_KINDS, MediaError } from "../media/errors.ts";
import { doubling, isTransient, limitTime, sleep, untilAborted } from "../util/async.ts";
import { parseJson } from "../util/text.ts";
import * as errors from "./errors.ts";

/** The platform's fetch, or one with its signature. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** A service and its key. */
export interface HttpService {
  /** URL of the service, without a trailing slash. */
  base_url: string;
  api_key: string;
  fetch: Fetch;
}

/** One request to the service. */
export interface HttpRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path and query, beginning with a slash. */
  path: string;
  /** JSON body. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Whether it creates a record; an idempotency key then keeps retries from creating a second one. */
  creates?: boolean;
  /** The idempotency key of a request that creates; a random one by default. */
  key?: string | undefined;
  /** Whether it is idempotent, so that it can be retried after its response was lost. */
  repeats?: boolean;
  /** Whether to retry for as long as the service is away; otherwise it is tried 4 times. */
  patient?: boolean;
}

/** A parsed response. */
export interface HttpResponse<T> {
  value: T;
  headers: Headers;
}

/** The schema of a response, or a function that loads its module, which a page then fetches with the first request alone. */
export type ResponseSchema<T> = z.ZodType<T> | (() => Promise<z.ZodType<T>>);

/**
 * Sends a request with the key, retrying where that is safe; resolves to the response parsed by the schema, rejects with a
 * {@link MediaError} or the signal's reason.
 */
export type Call = <T>(request: HttpRequest, schema: ResponseSchema<T>) => Promise<HttpResponse<T>>;

/** Like {@link Call}, but resolves to the response itself, whose body can be read until the signal aborts. */
export type Open = (request: HttpRequest) => Promise<Response>;

/** Sends requests to a service. */
export interface Http {
  call: Call;
  open: Open;
}

const TRIES = 4;
// The tries outlast the minute after which the service frees the key of a request that it lost.
const CONFLICT_TRIES = 10;
const RESPONSE_MS = 30_000;
const PAUSE_MS = { first: 300, max: 20_000 } as const;
const NEVER_SENT: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/** A failed request, and whether to retry it. */
interface Failure {
  error: MediaError;
  /** Whether the service certainly did nothing. */
  unprocessed: boolean;
  /** Milliseconds that the service asked the client to wait; null otherwise. */
  wait_ms: number | null;
}

/**
 * Creates an {@link Http}. It retries transient failures after growing pauses. A GET, an idempotent request and one that creates a
 * record (its key prevents a second one) are retried whenever that may help; anything else only when the service certainly did
 * nothing: it was never reached, or answered 429, or 503 with `Retry-After`.
 */
export function createHttp(service: HttpService): Http {
  async function repeat<T>(request: HttpRequest, read: (response: Response) => Promise<T>): Promise<T> {
    const key = request.creates ? (request.key ?? crypto.randomUUID()) : null;
    for (let attempt = 1; ; attempt++) {
      const outcome = await send(service, request, key, read);
      if ("value" in outcome) return outcome.value;
      const { error, unprocessed, wait_ms } = outcome;
      const pause = Math.max(wait_ms ?? 0, pauseMs(attempt));
      const isRetryable =
        error.retryable && (request.method === "GET" || request.repeats || key !== null || unprocessed);
      const tries = error.kind === "idempotency_conflict" ? CONFLICT_TRIES : TRIES;
      const isLast = attempt >= tries || pause > PAUSE_MS.max;
      if (!isRetryable || (isLast && !request.patient)) throw error;
      await sleep(pause * (1 + Math.random() / 4), request.signal);
    }
  }
  return {
    async call(request, schema) {
      // Loaded before the request: a page that cannot parse the response must not have created anything.
      const type = await untilAborted(loadSchema(schema), request.signal);
      const { text, headers } = await repeat(request, async (response) => ({
        text: await response.text(),
        headers: response.headers,
      }));
      return { value: parseResponse(text, type), headers };
    },
    open: (request) => repeat(request, async (response) => response),
  };
}

/** Returns the milliseconds to wait after a number of failed attempts. */
export const pauseMs = doubling(PAUSE_MS.first, PAUSE_MS.max);

async function send<T>(
  service: HttpService,
  request: HttpRequest,
  key: string | null,
  read: (response: Response) => Promise<T>,
): Promise<{ value: T } | Failure> {
  const { method, path, body, signal } = request;
  const limit = limitTime(RESPONSE_MS, { signal });
  const init: RequestInit = {
    method,
    headers: {
      ...request.headers,
      Authorization: `Bearer ${service.api_key}`,
      ...(key !== null && { "Idempotency-Key": key }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    body: body === undefined ? null : writeJson(body),
    // Following a redirect would send the key along.
    redirect: "manual",
    signal: limit.signal,
  };
  try {
    const response = await service.fetch(service.base_url + path, init);
    return response.ok ? { value: await read(response) } : failureOf(response, await response.text());
  } catch (thrown) {
    signal?.throwIfAborted();
    return lostConnection(thrown, limit.isOver);
  } finally {
    limit.clear();
  }
}

function failureOf({ status, headers }: Response, body: string): Failure {
  const seconds = Number(headers.get("Retry-After") ?? Number.NaN);
  const wait_ms = seconds >= 0 ? seconds * 1000 : null;
  const unprocessed = status === 429 || (status === 503 && wait_ms !== null);
  const error = readError(body, status);
  if (error) return { error, unprocessed, wait_ms };
  const retryable = status >= 500 || isTransient(status);
  return { error: errors.serviceFailed({ status, retryable }), unprocessed, wait_ms };
}

function lostConnection(thrown: unknown, late: boolean): Failure {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const unprocessed = NEVER_SENT.has(Reflect.get(Object(cause), "code"));
  const error = late
    ? errors.serviceTimeout({ seconds: RESPONSE_MS / 1000, cause: thrown })
    : errors.serviceUnreachable({ cause: thrown });
  return { error, unprocessed, wait_ms: null };
}

/** Parses the service's response with its schema; throws `service_unavailable` for anything else. */
export function parseResponse<T>(text: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(text === "" ? null : parseJson(text));
  if (parsed.success) return parsed.data;
  throw errors.responseUnknown({ cause: parsed.error });
}

/** Returns the schema of a response; rejects with `service_unavailable` when its module cannot be loaded. */
export async function loadSchema<T>(schema: ResponseSchema<T>): Promise<z.ZodType<T>> {
  if (typeof schema !== "function") return schema;
  return schema().catch((cause) => {
    throw errors.serviceUnreachable({ cause });
  });
}

function writeJson(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (thrown) {
    throw errors.notJson({ cause: thrown });
  }
}

// Newer services may have unknown kinds and reasons.
const ErrorBody = z.object({
  kind: z.string(),
  message: z.string(),
  param: z.string().optional(),
  reason: ErrorReason.optional().catch(undefined),
});

/**
 * Parses the service's error from the body of a response; null for any other body. An unknown kind becomes `internal_error`
 * from status 500 on, otherwise `request_invalid`.
 */
export function readError(body: string, status: number): MediaError | null {
  const parsed = ErrorBody.safeParse(parseJson(body));
  if (!parsed.success) return null;
  const { message, param, reason } = parsed.data;
  const kind =
    ERROR_KINDS.find((each) => each === parsed.data.kind) ??
    (status >= 500 ? "internal_error" : "request_invalid");
  return new MediaError(kind, message, { param, reason });
}
