import type { ByteRange, ByteReader } from "../../core/ports.ts";
import { KIB, MIB } from "../../util/bytes.ts";
import { readSource, toStream } from "../byte-source.ts";
import { createRangeCache } from "../readers.ts";
import { type HttpFacts, parseContentRange, readFacts } from "./http-facts.ts";
import { discard, type HttpOptions, requestHttp } from "./http-request.ts";
import { checkSize, createHttpSource, type HttpReading, type Watch } from "./http-stream.ts";

/** An opened file on a web server: its facts, and two ways to read it. */
export interface HttpFile extends HttpFacts {
  /** Random access by range requests; null when the server does not support ranges, which leaves {@link HttpFile.stream}. */
  readonly reader: ByteReader | null;
  /** Streams the whole file; calls `watch` as bytes arrive. Fails as `createHttpSource` does. */
  stream(watch?: Watch): ReadableStream<Uint8Array>;
  /** Frees the connection of a file that is not streamed. */
  close(): Promise<void>;
}

// Enough to identify most files; an index at the end, or a long header, takes another request.
const HEAD_BYTES = 32 * KIB;
const CACHE = { ahead: 64 * KIB, most: MIB, keep: 4 * MIB };

/**
 * Opens a file on a web server by requesting its first bytes. Rejects with `input_not_found`, `input_forbidden`,
 * `input_unreachable` (`retryable` says whether a retry may help) or `input_too_large`.
 */
export async function openHttp(url: string, options: HttpOptions): Promise<HttpFile> {
  const answer = await requestStart(url, options);
  const facts = readFacts(answer.response, answer.url);
  try {
    checkSize(facts.size, options.maxBytes);
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
    stream: (watch) => toStream(createHttpSource(facts, options, { first: take(), watch })),
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
  // A server that mishandles or compresses ranges, or hides the size, may still send the whole file.
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
  const readRange = (range: ByteRange, more: HttpReading, signal = options.signal) =>
    readSource(createHttpSource(facts, { ...options, signal }, { range, ...more }), range.end - range.start);
  const head = await readRange({ start: 0, end: Math.min(size, HEAD_BYTES) }, { first: response });
  const fetchRange = (range: ByteRange, signal?: AbortSignal) => {
    const signals = [options.signal, signal].filter((each) => each !== undefined);
    return readRange(range, {}, AbortSignal.any(signals));
  };
  return {
    ...facts,
    reader: createRangeCache(size, fetchRange, { ...CACHE, head }),
    stream(watch) {
      const first = head.length === size ? new Response(head) : null;
      return toStream(createHttpSource(facts, options, { first, watch }));
    },
    close: async () => {},
  };
}
