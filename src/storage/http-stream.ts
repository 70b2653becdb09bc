import { MediaError } from "../core/errors.ts";
import { type ByteSource, createByteSource } from "./byte-source.ts";
import { BrokenBody, inTime } from "./http-body.ts";
import { contentLength, type HttpFacts, parseContentRange } from "./http-facts.ts";
import { discard, HTTP_TIMEOUTS, type HttpOptions, requestHttp, unreachable } from "./http-request.ts";
import { sleep } from "./sleep.ts";

/** How often a broken body is taken up again where it broke. */
export const MAX_RESUMES = 5;

/** Told how many bytes have come so far; the reading waits for it and fails with it. */
export type Watch = (received: number) => Promise<void> | void;

/**
 * Reads a whole file from its start, by way of `first` where an answer with it is already there. A read rejects with
 * `input_too_large`, with `timeout` when the whole takes too long, and with `input_unreachable` when the bytes stop
 * coming, break off or are not as many as declared; a break is mended by asking for the rest, where the server has ranges.
 */
export function createHttpSource(
  facts: HttpFacts,
  options: HttpOptions,
  first: Response | null,
  watch?: Watch,
): ByteSource {
  const { idle_ms, total_ms, pause_ms } = { ...HTTP_TIMEOUTS, ...options.timeouts };
  const over = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal;
  let ready = first;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let body: ByteSource | null = null;
  let received = 0;
  let resumes = 0;

  const open = async () => {
    const response = ready ?? (await requestFrom(received, facts, { ...options, signal }));
    ready = null;
    try {
      checkDeclared(facts, received, contentLength(response), options.max_bytes);
    } catch (thrown) {
      await discard(response);
      throw thrown;
    }
    return createByteSource(response.body ?? new Blob([]).stream());
  };

  const next = async (view: Uint8Array<ArrayBuffer>) => {
    body ??= await open();
    const bytes = await inTime(body.read(view), { idle_ms, signal });
    if (!bytes && facts.size !== null && received < facts.size) throw new BrokenBody("the body ended early");
    return bytes;
  };

  const nextOrResume = async (view: Uint8Array<ArrayBuffer>) => {
    const { length } = view;
    // The memory given to a broken body is lost with it.
    for (let free = view; ; free = new Uint8Array(length)) {
      try {
        return await next(free);
      } catch (thrown) {
        signal.throwIfAborted();
        await body?.cancel();
        body = null;
        if (!(thrown instanceof BrokenBody)) throw thrown;
        if (!facts.ranges || resumes >= MAX_RESUMES) throw brokenOff(thrown, facts, received);
        await sleep(pause_ms * 2 ** resumes, signal);
        resumes++;
      }
    }
  };

  const cancel = async () => {
    if (timer !== undefined) clearTimeout(timer);
    await body?.cancel();
    if (ready) await discard(ready);
  };

  return {
    async read(view) {
      timer ??= setTimeout(() => over.abort(tooSlow(total_ms)), total_ms);
      try {
        const bytes = await nextOrResume(view);
        if (!bytes) clearTimeout(timer);
        received += bytes?.length ?? 0;
        checkReceived(facts, received, options.max_bytes);
        if (bytes) await watch?.(received);
        return bytes;
      } catch (thrown) {
        await cancel();
        throw thrown;
      }
    },
    cancel,
  };
}

/** Throws `input_unreachable` when an answer is of another version of the file than the facts are. */
export function checkVersion(facts: HttpFacts, response: Response): void {
  const version = response.headers.get("etag") ?? response.headers.get("last-modified");
  if (facts.version === null || version === null || version === facts.version) return;
  throw unreachable(facts.url, "changed while it was being read", true);
}

/** Throws `input_too_large` when a file is larger than allowed. */
export function checkSize(size: number | null, max_bytes: number | undefined): void {
  if (size === null || max_bytes === undefined || size <= max_bytes) return;
  throw new MediaError(
    "input_too_large",
    `The source has ${size} bytes; no more than ${max_bytes} are allowed.`,
  );
}

// By range even from the start, where there are ranges: an answer that tells of its place and of the whole.
async function requestFrom(at: number, facts: HttpFacts, options: HttpOptions): Promise<Response> {
  const headers: Record<string, string> = facts.ranges ? { Range: `bytes=${at}-` } : {};
  const { response } = await requestHttp(facts.url, headers, options, [416]).catch((cause) => {
    const passing = cause instanceof MediaError && cause.retryable;
    throw passing ? new BrokenBody("the source did not answer again", { cause }) : cause;
  });
  try {
    checkVersion(facts, response);
    const range = parseContentRange(response.headers.get("content-range"));
    if (facts.ranges && (response.status !== 206 || range?.start !== at || range.total !== facts.size)) {
      throw unreachable(facts.url, `did not give the bytes from ${at} on`, true);
    }
    return response;
  } catch (thrown) {
    await discard(response);
    throw thrown;
  }
}

function checkDeclared(
  { url, size }: HttpFacts,
  received: number,
  length: number | null,
  max_bytes?: number,
): void {
  const declared = length === null ? size : received + length;
  checkSize(declared, max_bytes);
  if (size === null || declared === size) return;
  throw unreachable(url, `declared ${size} bytes first and ${declared} then`, true);
}

function checkReceived(
  { url, size }: HttpFacts,
  received: number,
  max_bytes = Number.POSITIVE_INFINITY,
): void {
  if (received > max_bytes) {
    throw new MediaError("input_too_large", `The source has more than the ${max_bytes} bytes allowed.`);
  }
  if (size !== null && received > size) {
    throw unreachable(url, `sent more than the ${size} bytes it declared`, true);
  }
}

function tooSlow(total_ms: number): MediaError {
  return new MediaError("timeout", `Fetching the source took longer than ${total_ms / 1000} s.`);
}

function brokenOff(broken: BrokenBody, { url, size }: HttpFacts, received: number): MediaError {
  if (broken.cause instanceof MediaError) return broken.cause;
  const of = size === null ? "" : ` of ${size}`;
  return unreachable(url, `broke off after ${received}${of} bytes: ${broken.message}`, true, broken);
}
