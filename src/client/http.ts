import type { z } from "zod";
import { MediaError } from "../core/errors.ts";
import { sleep } from "../storage/sleep.ts";
import { readError, readJson } from "./read-error.ts";

/** A fetch as every platform has it. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/** The service that is asked. */
export interface HttpService {
  /** Without a slash at its end. */
  base_url: string;
  api_key: string;
  fetch: Fetch;
}

/** One request to the service. */
export interface Ask {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path and query, beginning with a slash. */
  path: string;
  /** What is sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Makes a record: sent with a key of its own, so that it can be repeated and makes one all the same. */
  creates?: boolean;
  /** Tries as long as it may help, however long the service is away; else 4 times in all. */
  patient?: boolean;
}

/** An answer, parsed. */
export interface Answer<T> {
  value: T;
  headers: Headers;
}

/** Asks the service with its key; gives the first right answer by its schema, or rejects with a {@link MediaError}, or as the signal says. */
export type Call = <T>(ask: Ask, schema: z.ZodType<T>) => Promise<Answer<T>>;

/** Asks as {@link Call} does, and gives the first right answer as it is, whose body comes on for as long as the signal lets it. */
export type Open = (ask: Ask) => Promise<Response>;

/** Ways to ask a service. */
export interface Http {
  call: Call;
  open: Open;
}

const TRIES = 4;
const ANSWER_MS = 30_000;
// Before another try: doubled each time, up to the most. Only the patient wait for a service that asks for more.
const PAUSE_MS = { first: 300, most: 20_000 } as const;
// Codes of Node for connections that were never made.
const NEVER_SENT: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/** A request that failed, and what may be done about it. */
interface Failure {
  error: MediaError;
  /** True when the service certainly did nothing. */
  undone: boolean;
  /** Milliseconds that the service asked to wait. */
  wait_ms: number | null;
}

/**
 * Builds {@link Http}. What fails in passing is tried again after growing pauses: a GET whenever another try may help, and what makes a record
 * too, as its key keeps it from making a second one; anything else only where
 * the service certainly did nothing, as it was never reached, or said so by 429 or by 503 with `Retry-After`.
 */
export function createHttp(service: HttpService): Http {
  async function repeat<T>(ask: Ask, take: (response: Response) => Promise<T>): Promise<T> {
    const key = ask.creates ? crypto.randomUUID() : null;
    for (let tried = 1; ; tried++) {
      const answer = await send(service, ask, key, take);
      if ("taken" in answer) return answer.taken;
      const { error, undone, wait_ms } = answer;
      const pause = Math.max(wait_ms ?? 0, pauseMs(tried));
      const helps = error.retryable && (ask.method === "GET" || key !== null || undone);
      const enough = tried >= TRIES || pause > PAUSE_MS.most;
      if (!helps || (enough && !ask.patient)) throw error;
      // Spread out, as many clients may have lost the same service.
      await sleep(pause * (1 + Math.random() / 4), ask.signal);
    }
  }
  return {
    async call(ask, schema) {
      const { text, headers } = await repeat(ask, async (response) => ({
        text: await response.text(),
        headers: response.headers,
      }));
      return { value: parseAnswer(text, schema), headers };
    },
    open: (ask) => repeat(ask, async (response) => response),
  };
}

/** Milliseconds to wait after so many tries, from 1 on. */
export function pauseMs(tried: number): number {
  return Math.min(PAUSE_MS.first * 2 ** (tried - 1), PAUSE_MS.most);
}

async function send<T>(
  service: HttpService,
  ask: Ask,
  key: string | null,
  take: (response: Response) => Promise<T>,
): Promise<{ taken: T } | Failure> {
  const { method, path, body, signal } = ask;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ANSWER_MS);
  const init: RequestInit = {
    method,
    headers: {
      ...ask.headers,
      Authorization: `Bearer ${service.api_key}`,
      ...(key !== null && { "Idempotency-Key": key }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    body: body === undefined ? null : writeJson(body),
    // A service that moved is to be named, not followed with the key.
    redirect: "manual",
    signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
  };
  try {
    const response = await service.fetch(service.base_url + path, init);
    return response.ok ? { taken: await take(response) } : failureOf(response, await response.text());
  } catch (thrown) {
    signal?.throwIfAborted();
    return lostConnection(thrown, late.signal.aborted);
  } finally {
    clearTimeout(timer);
  }
}

function failureOf({ status, headers }: Response, body: string): Failure {
  const seconds = Number(headers.get("Retry-After") ?? Number.NaN);
  const wait_ms = seconds >= 0 ? seconds * 1000 : null;
  const undone = status === 429 || (status === 503 && wait_ms !== null);
  const error = readError(body, status);
  if (error) return { error, undone, wait_ms };
  const retryable = status >= 500 || status === 429 || status === 408;
  const what = status === 0 || (status >= 300 && status < 400) ? "a redirect" : `status ${status}`;
  const hint = retryable ? "try again" : "check that baseUrl is that of the service";
  const message = `The service answered with ${what}; ${hint}.`;
  return { error: new MediaError("service_unavailable", message, { retryable }), undone, wait_ms };
}

function lostConnection(thrown: unknown, late: boolean): Failure {
  const what = late ? `did not answer within ${ANSWER_MS / 1000} s` : "could not be reached";
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const undone = NEVER_SENT.has(Reflect.get(Object(cause), "code"));
  const error = new MediaError("service_unavailable", `The service ${what}; try again.`, { cause: thrown });
  return { error, undone, wait_ms: null };
}

/** Reads what the service answered by its schema; throws `service_unavailable` for anything else. */
export function parseAnswer<T>(text: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(text === "" ? null : readJson(text));
  if (parsed.success) return parsed.data;
  const message = "What answered is not the service, or a version of it that this client does not know.";
  throw new MediaError("service_unavailable", message, { retryable: false, cause: parsed.error });
}

function writeJson(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (thrown) {
    throw new MediaError("request_invalid", "The request must be plain JSON.", { cause: thrown });
  }
}
