import { MediaError } from "../../media/errors.ts";
import type { ByteRange, ByteReader } from "../../runs/ports.ts";
import { sleep } from "../../util/async.ts";
import { KIB, MIB } from "../../util/bytes.ts";
import { type ByteSource, createByteSource, readSource, toStream } from "../byte-source.ts";
import * as errors from "../errors.ts";
import { breaks } from "../errors.ts";
import { createRangeCache } from "../readers.ts";
import {
  BrokenBody,
  contentLength,
  discard,
  HTTP_TIMEOUTS,
  type HttpFacts,
  type HttpOptions,
  parseContentRange,
  readFacts,
  requestHttp,
  StalledBody,
} from "./request.ts";

/** An opened file on a web server: its facts, and two ways to read it. */
export interface HttpFile extends HttpFacts {
  /** Random access by range requests; null when the server does not support ranges, which leaves {@link HttpFile.stream}. */
  readonly reader: ByteReader | null;
  /** Streams the whole file; calls `onBytes` as they arrive. Fails as `createHttpSource` does. */
  stream(onBytes?: OnBytes): ReadableStream<Uint8Array>;
  /** Frees the connection of a file that is not streamed. */
  close(): Promise<void>;
}

const HEAD_BYTES = 32 * KIB;
const CACHE = { minAhead: 64 * KIB, maxAhead: MIB, cacheBytes: 4 * MIB };

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
      return await openByRanges(facts, facts.size, answer.response, options);
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
    stream: (onBytes) => toStream(createHttpSource(facts, options, { first: take(), onBytes })),
    async close() {
      const response = take();
      if (response) await discard(response);
    },
  };
}

async function requestStart(url: string, options: HttpOptions) {
  const answer = await requestHttp(url, { Range: `bytes=0-${HEAD_BYTES - 1}` }, options, [416]).catch(
    (thrown) => {
      // A browser requests ranges uncompressed and fails if the server compresses the response anyway.
      if (options.guard || !(thrown instanceof MediaError) || thrown.reason?.code !== "no_answer")
        throw thrown;
      return null;
    },
  );
  if (!answer) return requestHttp(url, {}, options);
  const { status, headers } = answer.response;
  const range = parseContentRange(headers.get("content-range"));
  const plain = (headers.get("content-encoding") ?? "identity") === "identity";
  const whole = status !== 206 && status !== 416;
  const ranged = status === 206 && range?.start === 0 && range.total !== null && plain;
  if (whole || ranged || (status === 416 && range?.total === 0)) return answer;
  // A server that mishandles or compresses ranges, or hides the size, may still serve the whole file.
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

async function openByRanges(
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
    stream(onBytes) {
      const first = head.length === size ? new Response(head) : null;
      return toStream(createHttpSource(facts, options, { first, onBytes }));
    },
    close: async () => {},
  };
}

/** How often a broken body is resumed. */
export const MAX_RESUMES = 5;
const STALLED_RANGE_COST = 3;
const PORTION_BYTES = 16 * MIB;

/** Called with the bytes received so far; reading waits for it and fails with it. */
export type OnBytes = (received: number) => Promise<void> | void;

interface HttpReading {
  /** A response that has already arrived. */
  first?: Response | null;
  /** A range within the file, from a server that supports ranges. Default: the whole file. */
  range?: ByteRange;
  onBytes?: OnBytes | undefined;
}

/**
 * Reads a file, or a range of it, in order, and resumes a broken body if the server supports ranges. A read rejects with
 * `input_too_large`; with `timeout` when the whole takes too long; with `input_unreachable` when the bytes stall, break off,
 * differ from the declared size or belong to another version; and with `input_changed` when a pinned file has changed.
 */
export function createHttpSource(
  facts: HttpFacts,
  options: HttpOptions,
  { first = null, range, onBytes }: HttpReading = {},
): ByteSource {
  const { idleMs, totalMs, pauseMs } = { ...HTTP_TIMEOUTS, ...options.timeouts };
  const deadline = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, deadline.signal]) : deadline.signal;
  const start = range?.start ?? 0;
  const due = range ? range.end - range.start : facts.size;
  let ready = first;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let body: ByteSource | null = null;
  let received = 0;
  let resumes = 0;
  let admitted = 0;

  const open = async () => {
    const prefetched = ready;
    ready = null;
    const rest = { start: start + received, end: range?.end };
    const response = prefetched ?? (await requestFrom(rest, facts, { ...options, signal }));
    try {
      if (range || !prefetched) checkAnswer(response, rest, facts);
      checkDeclared(facts.url, due, received, contentLength(response), options.maxBytes);
    } catch (thrown) {
      await discard(response);
      throw thrown;
    }
    return createByteSource(response.body ?? new Blob([]).stream());
  };

  const next = async (view: Uint8Array<ArrayBuffer>) => {
    body ??= await open();
    const bytes = await inTime(body.read(view), { idleMs, signal });
    if (!bytes && due !== null && received < due) throw new BrokenBody(breaks.endedEarly());
    return bytes;
  };

  const nextOrResume = async (view: Uint8Array<ArrayBuffer>) => {
    const { length } = view;
    // Memory passed to a broken body is detached.
    for (let free = view; ; free = new Uint8Array(length)) {
      try {
        return await next(free);
      } catch (thrown) {
        signal.throwIfAborted();
        await body?.cancel();
        body = null;
        if (!(thrown instanceof BrokenBody)) throw thrown;
        if (received === due) return null;
        const cost = range && thrown instanceof StalledBody ? STALLED_RANGE_COST : 1;
        if (!facts.ranges || resumes + cost > MAX_RESUMES) throw brokenOff(thrown, facts.url, due, received);
        await sleep(pauseMs * 2 ** resumes, signal);
        resumes += cost;
      }
    }
  };

  const admit = async () => {
    if (!options.admit || received < admitted) return;
    const portion = due ?? PORTION_BYTES;
    admitted = due === null ? admitted + portion : Number.POSITIVE_INFINITY;
    await options.admit(portion);
  };

  const cancel = async () => {
    if (timer !== undefined) clearTimeout(timer);
    await body?.cancel();
    if (ready) await discard(ready);
  };

  return {
    async read(view) {
      timer ??= setTimeout(() => deadline.abort(errors.timeout({ seconds: totalMs / 1000 })), totalMs);
      try {
        await admit();
        const bytes = await nextOrResume(view);
        if (!bytes) clearTimeout(timer);
        received += bytes?.length ?? 0;
        checkReceived(facts.url, due, received, options.maxBytes);
        if (bytes) await onBytes?.(received);
        return bytes;
      } catch (thrown) {
        await cancel();
        throw thrown;
      }
    },
    cancel,
  };
}

/** Throws `input_too_large` when a file is larger than allowed. */
export function checkSize(size: number | null, maxBytes: number | undefined): void {
  if (size === null || maxBytes === undefined || size <= maxBytes) return;
  throw errors.tooLarge({ size, maxBytes });
}

interface OpenRange {
  start: number;
  /** End of the range, exclusive; by default the end of the file. */
  end?: number | undefined;
}

// Requests a range even from the start where possible, because a 206 states its position and the total.
async function requestFrom(
  { start, end }: OpenRange,
  facts: HttpFacts,
  options: HttpOptions,
): Promise<Response> {
  const last = end === undefined ? "" : end - 1;
  const headers = {
    ...(facts.ranges && { Range: `bytes=${start}-${last}` }),
    // Servers that ignore one often honor the other.
    ...(facts.pinned && facts.etag && { "If-Match": facts.etag, "If-Range": facts.etag }),
  };
  try {
    return (await requestHttp(facts.url, headers, options, facts.pinned ? [412, 416] : [416])).response;
  } catch (cause) {
    if (!(cause instanceof MediaError && cause.retryable)) throw cause;
    const Fault = cause.cause instanceof StalledBody ? StalledBody : BrokenBody;
    throw new Fault(breaks.notAnsweredAgain(), { cause });
  }
}

function checkAnswer(response: Response, { start, end }: OpenRange, facts: HttpFacts): void {
  const { status, headers } = response;
  const version = headers.get("etag") ?? headers.get("last-modified");
  if (facts.pinned) checkPinned(response, facts);
  if (facts.version !== null && version !== null && version !== facts.version) throw errors.changed(facts);
  if (!facts.ranges) return;
  const range = parseContentRange(headers.get("content-range"));
  const isRequestedRange = range?.start === start && (end === undefined || range.end === end);
  if (status === 206 && isRequestedRange && range.total === facts.size) return;
  throw errors.rangeNotSent(facts);
}

// A whole file in response to If-Range means that the version has changed.
function checkPinned({ status, headers }: Response, { etag, size }: HttpFacts): void {
  const now = headers.get("etag");
  const total = parseContentRange(headers.get("content-range"))?.total ?? size;
  const same = now === null ? status === 206 : now === etag;
  if (same && total === size && status !== 412) return;
  throw errors.pinnedChanged();
}

function checkDeclared(
  url: string,
  due: number | null,
  received: number,
  length: number | null,
  maxBytes?: number,
): void {
  const declared = length === null ? due : received + length;
  checkSize(declared, maxBytes);
  if (due === null || declared === due) return;
  throw errors.sizeChanged({ url, first: due, second: declared });
}

function checkReceived(
  url: string,
  due: number | null,
  received: number,
  maxBytes = Number.POSITIVE_INFINITY,
): void {
  if (received > maxBytes) throw errors.tooLargeUndeclared({ maxBytes });
  if (due !== null && received > due) throw errors.bodyTooLong({ url, size: due });
}

function brokenOff(broken: BrokenBody, url: string, due: number | null, received: number): MediaError {
  if (broken.cause instanceof MediaError) return broken.cause;
  return errors.brokenOff({ url, received, size: due, broken });
}

export interface BodyLimits {
  /** Milliseconds to wait for the next bytes. */
  idleMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Waits for the next bytes of a body. Rejects with {@link StalledBody} when none arrive in time, with {@link BrokenBody} when
 * the connection breaks, and otherwise with the signal's reason.
 */
async function inTime<T>(next: Promise<T>, { idleMs, signal }: BodyLimits): Promise<T> {
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>();
  const aborted = () => stop(signal?.reason);
  const timer = setTimeout(() => stop(new StalledBody(breaks.silent({ seconds: idleMs / 1000 }))), idleMs);
  signal?.addEventListener("abort", aborted);
  try {
    return await Promise.race([next, stopped]);
  } catch (thrown) {
    signal?.throwIfAborted();
    if (thrown instanceof BrokenBody) throw thrown;
    throw new BrokenBody(breaks.connectionLost(), { cause: thrown });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", aborted);
  }
}

/** A buffer being filled from its start. */
export interface Filling {
  bytes: Uint8Array<ArrayBuffer>;
  /** Bytes that have arrived. */
  filled: number;
}

const SCRATCH_BYTES = 256 * KIB;

/**
 * Fills the rest of the buffer with a body of exactly that length; rejects with `input_unreachable` when the length differs or
 * the connection breaks. Bytes that arrived before a break stay in the buffer.
 */
export async function fillExactly(
  response: Response,
  filling: Filling,
  limits: BodyLimits & { url: string },
): Promise<void> {
  const { bytes } = filling;
  const { url } = limits;
  const source = response.body ? createByteSource(response.body) : null;
  let scratch = new Uint8Array(SCRATCH_BYTES);
  try {
    while (source) {
      const piece = await inTime(source.read(scratch), limits);
      if (!piece) break;
      if (filling.filled + piece.length > bytes.length) {
        filling.filled = 0;
        throw errors.bodyTooLong(limits);
      }
      bytes.set(piece, filling.filled);
      filling.filled += piece.length;
      scratch = new Uint8Array(piece.buffer);
    }
  } catch (thrown) {
    if (!(thrown instanceof BrokenBody)) throw thrown;
    if (filling.filled === bytes.length) return;
    throw errors.brokenOff({ url, received: filling.filled, size: bytes.length, broken: thrown });
  } finally {
    await source?.cancel();
  }
  if (filling.filled < bytes.length) {
    throw errors.bodyTooShort({ url, received: filling.filled, size: bytes.length });
  }
}
