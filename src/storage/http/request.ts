import { MediaError } from "../../media/errors.ts";
import { isTransient, limitTime } from "../../util/async.ts";
import * as errors from "../errors.ts";
import { breaks } from "../errors.ts";
import type { HostGuard } from "./host-guard.ts";

/** Timeouts for a source, in milliseconds. */
export interface HttpTimeouts {
  /** Limit of the time until the headers of one response arrive. */
  headersMs: number;
  /** Limit of the time until the next bytes of a body arrive. */
  idleMs: number;
  /** Limit of the time for a whole body. */
  totalMs: number;
  /** The first pause before a broken body is resumed; doubles each time. */
  pauseMs: number;
}

/** The defaults: 20 s for headers, 30 s for the next bytes, an hour for a body, pauses from 0.1 s. */
export const HTTP_TIMEOUTS: HttpTimeouts = {
  headersMs: 20_000,
  idleMs: 30_000,
  totalMs: 3_600_000,
  pauseMs: 100,
};

const MAX_REDIRECTS = 5;

export interface HttpOptions {
  /** The platform's fetch; it must not add credentials. */
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Checks every URL before it is requested. Null leaves redirects to the platform, as a browser page must. */
  guard: HostGuard | null;
  signal?: AbortSignal | undefined;
  timeouts?: Partial<HttpTimeouts> | undefined;
  /** Largest file allowed, in bytes; unlimited when absent. */
  maxBytes?: number | undefined;
  /** Called with the number of bytes of a file or range before they are read; its rejection fails the read. */
  admit?: ((bytes: number) => Promise<void>) | undefined;
}

export interface HttpAnswer {
  response: Response;
  url: string;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Sends a GET and follows redirects, checking each hop with the guard and sending nothing but the given headers. Rejects
 * with `input_not_found`, `input_forbidden` or `input_unreachable`; responses with a status in `expected` are returned.
 */
export async function requestHttp(
  url: string,
  headers: Record<string, string>,
  options: HttpOptions,
  expected: readonly number[] = [],
): Promise<HttpAnswer> {
  const visited = new Set<string>();
  for (let at = url; ; ) {
    await options.guard?.(at);
    if (visited.has(at)) throw errors.redirectLoop({ url: at });
    if (visited.size > MAX_REDIRECTS) throw errors.tooManyRedirects({ url: at, max: MAX_REDIRECTS });
    visited.add(at);
    const response = await send(at, headers, options);
    if (!REDIRECTS.has(response.status) || expected.includes(response.status)) {
      if (response.ok || expected.includes(response.status)) return { response, url: response.url || at };
      await discard(response);
      throw statusError(at, response.status);
    }
    await discard(response);
    const next = URL.parse(response.headers.get("location") ?? "", at);
    if (!next || !response.headers.has("location")) throw errors.redirectEmpty({ url: at });
    next.hash = "";
    at = next.href;
  }
}

/** Cancels an unread body to free its connection. */
export async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}

async function send(url: string, headers: Record<string, string>, options: HttpOptions): Promise<Response> {
  const { headersMs } = { ...HTTP_TIMEOUTS, ...options.timeouts };
  options.signal?.throwIfAborted();
  const limit = limitTime(headersMs, { signal: options.signal });
  const redirect = options.guard ? "manual" : "follow";
  try {
    return await options.fetch(url, {
      headers: { "Accept-Encoding": "identity", ...headers },
      redirect,
      signal: limit.signal,
    });
  } catch (thrown) {
    options.signal?.throwIfAborted();
    if (thrown instanceof MediaError) throw thrown;
    if (!limit.isOver) throw errors.noAnswer({ url, cause: thrown });
    const seconds = headersMs / 1000;
    throw errors.headersLate({ url, seconds, cause: new StalledBody(breaks.silent({ seconds })) });
  } finally {
    limit.clear();
  }
}

function statusError(url: string, status: number): MediaError {
  if (status === 404 || status === 410) return errors.notFound({ url, status });
  if (status === 401 || status === 403) return errors.forbidden({ url, status });
  return errors.failed({ url, status, retryable: status >= 500 || isTransient(status) });
}

/** Facts about the whole file from a response. */
export interface HttpFacts {
  /** The final URL after redirects; may be secret. */
  url: string;
  /** Size of the whole file in bytes; null when unknown. */
  size: number | null;
  /** Content-Length of a body that may be compressed, for progress only; absent if `size` is known. */
  sizeHint?: number;
  /** The ETag as sent, including quotes; null when there is none. */
  etag: string | null;
  /** Content-Type in lower case without parameters; null when there is none. */
  mime: string | null;
  /** Whether range requests work. */
  ranges: boolean;
  /** The ETag, or else the modification time; null when neither is known. */
  version: string | null;
  /** Whether only this version may be read: `etag` is then strong, and every request demands it. */
  pinned?: boolean;
}

export function readFacts(response: Response, url: string): HttpFacts {
  const { headers } = response;
  const range = parseContentRange(headers.get("content-range"));
  const partial = response.status === 206 && range?.start === 0;
  const etag = headers.get("etag");
  const facts = {
    url,
    etag,
    mime: headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() || null,
    version: etag ?? headers.get("last-modified"),
  };
  if (response.status === 416) return { ...facts, size: range?.total ?? null, ranges: false };
  if (partial) return { ...facts, size: range.total, ranges: range.total !== null };
  const [size, hint] = [contentLength(response), hidesCoding(response) ? declaredLength(response) : null];
  return { ...facts, size, ...(hint !== null && { sizeHint: hint }), ranges: false };
}

/** Returns the Content-Length of a body; null when absent, or when the body is or may be compressed. */
export function contentLength(response: Response): number | null {
  const coding = response.headers.get("content-encoding") ?? "identity";
  return coding === "identity" && !hidesCoding(response) ? declaredLength(response) : null;
}

// A response from another origin shows a page its Content-Length but hides its encoding. The browser checks the length.
function hidesCoding({ type, status }: Response): boolean {
  // Cloudflare's typings lack the `cors` type of a browser's response.
  return (type as string) === "cors" && status !== 206;
}

function declaredLength({ headers }: Response): number | null {
  const text = headers.get("content-length");
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Parses a Content-Range in bytes; `end` is exclusive, and `total` is null when the header leaves it open. */
export function parseContentRange(
  header: string | null,
): { start: number; end: number; total: number | null } | null {
  const match = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15}|\*)$/.exec(header?.trim() ?? "");
  if (!match) return null;
  const [, first, last, total] = match;
  return {
    start: first === undefined ? 0 : Number(first),
    end: last === undefined ? 0 : Number(last) + 1,
    total: total === "*" ? null : Number(total),
  };
}

/** A body that broke off or stalled; requesting the rest may help. */
export class BrokenBody extends Error {}

/** A body that stalled: no bytes arrived in time. */
export class StalledBody extends BrokenBody {}
