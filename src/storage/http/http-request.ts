import { MediaError } from "../../core/errors.ts";
import { limitTime } from "../../util/time-limit.ts";
import { isTransient } from "../../util/transient-status.ts";
import { errorFor } from "../../words/reason-words.ts";
import { Silence } from "./broken-body.ts";
import type { HostGuard } from "./host-guard.ts";

/** How long a source may keep us waiting, in milliseconds. */
export interface HttpTimeouts {
  /** For the headers of one answer. */
  headers_ms: number;
  /** For the next bytes of a body. */
  idle_ms: number;
  /** For a whole body. */
  total_ms: number;
  /** How long we wait before a broken body is taken up again; twice as long each further time. */
  pause_ms: number;
}

/** Where none are given: 20 s for headers, 30 s for the next bytes, an hour for a body, pauses from 0.1 s on. */
export const HTTP_TIMEOUTS: HttpTimeouts = {
  headers_ms: 20_000,
  idle_ms: 30_000,
  total_ms: 3_600_000,
  pause_ms: 100,
};

/** Redirects that are followed by hand before a source counts as unreachable. */
export const MAX_REDIRECTS = 5;

/** How a source is fetched. */
export interface HttpOptions {
  /** The platform's fetch, bound to nothing but what it needs; it must add no credentials. */
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** Checks every address before it is requested. Null leaves redirects to the platform, as a page in a browser must. */
  guard: HostGuard | null;
  signal?: AbortSignal | undefined;
  timeouts?: Partial<HttpTimeouts> | undefined;
  /** Bytes that a file may have; no limit when absent. */
  max_bytes?: number | undefined;
}

/** An answer with a good status, and the address it came from. */
export interface HttpAnswer {
  response: Response;
  url: string;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
// RFC 9110 and RFC 6585: too slow, too early, too many, each worth another try.

/**
 * Sends a GET and follows its redirects, the guard asked at every hop and nothing carried along but the given headers.
 * Rejects with `input_not_found`, `input_forbidden` or `input_unreachable`; statuses in `expected` are given back instead.
 */
export async function requestHttp(
  url: string,
  headers: Record<string, string>,
  options: HttpOptions,
  expected: readonly number[] = [],
): Promise<HttpAnswer> {
  const seen = new Set<string>();
  for (let at = url; ; ) {
    await options.guard?.(at);
    if (seen.has(at)) throw unreachable(at, "redirects in a loop", false);
    if (seen.size > MAX_REDIRECTS) throw unreachable(at, `redirects more than ${MAX_REDIRECTS} times`, false);
    seen.add(at);
    const response = await send(at, headers, options);
    if (!REDIRECTS.has(response.status) || expected.includes(response.status)) {
      if (response.ok || expected.includes(response.status)) return { response, url: response.url || at };
      await discard(response);
      throw statusError(at, response.status);
    }
    await discard(response);
    const next = URL.parse(response.headers.get("location") ?? "", at);
    if (!next || !response.headers.has("location")) throw unreachable(at, "redirects to nowhere", false);
    next.hash = "";
    at = next.href;
  }
}

/** An `input_unreachable` that names the host alone, as the rest of a URL may be secret. */
export function unreachable(url: string, what: string, retryable: boolean, cause?: unknown): MediaError {
  return new MediaError("input_unreachable", `The source at ${hostOf(url)} ${what}.`, { retryable, cause });
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "the given address";
}

/** Lets go of a body that nobody reads, so that its connection is freed. */
export async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {});
}

async function send(url: string, headers: Record<string, string>, options: HttpOptions): Promise<Response> {
  const { headers_ms } = { ...HTTP_TIMEOUTS, ...options.timeouts };
  options.signal?.throwIfAborted();
  const limit = limitTime(headers_ms, { signal: options.signal });
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
    if (limit.isOver) {
      const what = `did not answer within ${headers_ms / 1000} s`;
      throw unreachable(url, what, true, new Silence(what));
    }
    const reason = { code: "no_answer", from: "source", host: hostOf(url) } as const;
    throw errorFor("input_unreachable", reason, { cause: thrown });
  } finally {
    limit.clear();
  }
}

function statusError(url: string, status: number): MediaError {
  const host = URL.parse(url)?.host;
  if (status === 404 || status === 410) {
    return new MediaError("input_not_found", `There is no such file at ${host} (it answered ${status}).`);
  }
  if (status === 401 || status === 403) {
    return new MediaError("input_forbidden", `${host} refuses access to the source (it answered ${status}).`);
  }
  return unreachable(url, `answered ${status}`, status >= 500 || isTransient(status));
}
