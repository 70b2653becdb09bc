import type { ByteRange, ByteReader } from "../core/ports.ts";
import { toStream } from "./byte-source.ts";
import { readExactly } from "./http-body.ts";
import { type HttpFacts, parseContentRange, readFacts } from "./http-facts.ts";
import { discard, HTTP_TIMEOUTS, type HttpOptions, requestHttp, unreachable } from "./http-request.ts";
import { checkSize, checkVersion, createHttpSource, type Watch } from "./http-stream.ts";
import { createRangeCache } from "./range-cache.ts";

/** A file on a web server, opened: its facts, and two ways to its bytes. */
export interface HttpFile extends HttpFacts {
  /** Random access by range requests; null when the server has no ranges, then {@link HttpFile.stream} is the only way. */
  readonly reader: ByteReader | null;
  /** The whole file; `watch` is told as the bytes come. It fails as `createHttpSource` says. */
  stream(watch?: Watch): ReadableStream<Uint8Array>;
  /** Frees the connection of a file that is not streamed. */
  close(): Promise<void>;
}

const KB = 1024;
// Enough to tell what most files are; an index at the end, or a long header, takes one more request.
const HEAD_BYTES = 32 * KB;
const CACHE = { ahead: 64 * KB, most: 1024 * KB, keep: 4096 * KB };

/**
 * Opens a file on a web server with a request for its first bytes. Rejects with `input_not_found`, `input_forbidden`,
 * `input_unreachable` (`retryable` says whether another attempt may help) or `input_too_large`.
 */
export async function openHttp(url: string, options: HttpOptions): Promise<HttpFile> {
  const answer = await requestStart(url, options);
  const facts = readFacts(answer.response, answer.url);
  try {
    checkSize(facts.size, options.max_bytes);
    if (facts.size === 0) return await emptyFile(facts, answer.response);
    if (facts.ranges && facts.size !== null) {
      return await rangedFile(facts, facts.size, answer.response, options);
    }
  } catch (thrown) {
    await discard(answer.response);
    throw thrown;
  }
  let first: Response | null = answer.response;
  const take = () => {
    const response = first;
    first = null;
    return response;
  };
  return {
    ...facts,
    reader: null,
    stream: (watch) => toStream(createHttpSource(facts, options, take(), watch)),
    async close() {
      const response = take();
      if (response) await discard(response);
    },
  };
}

async function requestStart(url: string, options: HttpOptions) {
  const answer = await requestHttp(url, { Range: `bytes=0-${HEAD_BYTES - 1}` }, options, [416]);
  const { status, headers } = answer.response;
  const range = parseContentRange(headers.get("content-range"));
  const plain = (headers.get("content-encoding") ?? "identity") === "identity";
  const whole = status !== 206 && status !== 416;
  const ranged = status === 206 && range?.start === 0 && range.total !== null && plain;
  if (whole || ranged || (status === 416 && range?.total === 0)) return answer;
  // A server that stumbles over ranges, compresses them or keeps the size to itself may yet give the file whole.
  await discard(answer.response);
  return requestHttp(url, {}, options);
}

async function emptyFile(facts: HttpFacts, response: Response): Promise<HttpFile> {
  await discard(response);
  return {
    ...facts,
    reader: { size: 0, read: async () => new Uint8Array(0) },
    stream: () => new Blob([]).stream(),
    close: async () => {},
  };
}

async function rangedFile(
  facts: HttpFacts,
  size: number,
  response: Response,
  options: HttpOptions,
): Promise<HttpFile> {
  const head = await readRange(response, { start: 0, end: Math.min(size, HEAD_BYTES) }, facts, options);
  const fetchRange = async (range: ByteRange, signal?: AbortSignal) => {
    const signals = [options.signal, signal].filter((each) => each !== undefined);
    const inner = { ...options, signal: AbortSignal.any(signals) };
    const headers = { Range: `bytes=${range.start}-${range.end - 1}` };
    const answer = await requestHttp(facts.url, headers, inner, [416]);
    return readRange(answer.response, range, facts, inner);
  };
  return {
    ...facts,
    reader: createRangeCache(size, fetchRange, { ...CACHE, head }),
    stream(watch) {
      const known = head.length === size ? new Response(head) : null;
      return toStream(createHttpSource(facts, options, known, watch));
    },
    close: async () => {},
  };
}

async function readRange(response: Response, asked: ByteRange, facts: HttpFacts, options: HttpOptions) {
  try {
    checkVersion(facts, response);
    const range = parseContentRange(response.headers.get("content-range"));
    const fits = response.status === 206 && range?.start === asked.start && range.end === asked.end;
    if (!fits || range.total !== facts.size) {
      throw unreachable(facts.url, "did not give the range it was asked for", true);
    }
    const { idle_ms } = { ...HTTP_TIMEOUTS, ...options.timeouts };
    const limits = { idle_ms, signal: options.signal, url: facts.url };
    return await readExactly(response, asked.end - asked.start, limits);
  } catch (thrown) {
    await discard(response);
    throw thrown;
  }
}
