import { MediaError } from "../core/errors.ts";
import { BrokenBody, readNext } from "./http-body.ts";
import { contentLength, type HttpFacts, parseContentRange } from "./http-facts.ts";
import { discard, HTTP_TIMEOUTS, type HttpOptions, requestHttp, unreachable } from "./http-request.ts";

/** How often a broken body is taken up again where it broke. */
export const MAX_RESUMES = 5;

/**
 * Streams a whole file, from `first` where an answer with it is already there. The stream fails with `input_too_large`,
 * with `timeout` when the whole takes too long, and with `input_unreachable` when the bytes stop coming, break off or
 * are not as many as declared; a break is mended by asking for the rest, where the server has ranges.
 */
export function streamHttp(
  facts: HttpFacts,
  options: HttpOptions,
  first: Response | null,
): ReadableStream<Uint8Array> {
  const { url, size } = facts;
  const { idle_ms, total_ms } = { ...HTTP_TIMEOUTS, ...options.timeouts };
  const over = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, over.signal]) : over.signal;
  let ready = first;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
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
    return (response.body ?? new Blob([]).stream()).getReader();
  };

  const next = async (): Promise<Uint8Array | null> => {
    reader ??= await open();
    const { done, value } = await readNext(reader, { idle_ms, signal, url });
    if (!done) return value;
    if (size !== null && received < size) throw new BrokenBody("the body ended early");
    return null;
  };

  const nextOrResume = async (): Promise<Uint8Array | null> => {
    for (;;) {
      try {
        return await next();
      } catch (thrown) {
        signal.throwIfAborted();
        await reader?.cancel().catch(() => {});
        reader = null;
        const passing = thrown instanceof BrokenBody || (thrown instanceof MediaError && thrown.retryable);
        if (!passing || !facts.ranges || resumes >= MAX_RESUMES) throw brokenOff(thrown, facts, received);
        resumes++;
        await pause(Math.min(2000, 100 * 2 ** resumes), signal);
      }
    }
  };

  const finish = async () => {
    clearTimeout(timer);
    await reader?.cancel().catch(() => {});
    if (ready) await discard(ready);
  };

  return new ReadableStream<Uint8Array>(
    {
      start() {
        const late = new MediaError("timeout", `Fetching the source took longer than ${total_ms / 1000} s.`);
        timer = setTimeout(() => over.abort(late), total_ms);
      },
      async pull(controller) {
        try {
          const bytes = await nextOrResume();
          received += bytes?.length ?? 0;
          checkReceived(facts, received, options.max_bytes);
          if (bytes) return controller.enqueue(bytes);
          clearTimeout(timer);
          controller.close();
        } catch (thrown) {
          await finish();
          throw thrown;
        }
      },
      cancel: finish,
    },
    // Nothing is fetched before somebody reads.
    { highWaterMark: 0 },
  );
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
  const { response } = await requestHttp(facts.url, headers, options, [416]);
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

function brokenOff(thrown: unknown, { url, size }: HttpFacts, received: number): unknown {
  if (!(thrown instanceof BrokenBody)) return thrown;
  const of = size === null ? "" : ` of ${size}`;
  return unreachable(url, `broke off after ${received}${of} bytes: ${thrown.message}`, true, thrown.cause);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", aborted);
      resolve();
    }, ms);
    signal.addEventListener("abort", aborted, { once: true });
  });
}
