import { MediaError } from "../../core/errors.ts";
import { doubling, limitTime, sleep } from "../../util/async.ts";
import { readSome, streamOf } from "../storage.ts";
import { isPassing, readS3Fault, type S3Fault, type S3Purpose, toS3Error } from "./s3-error.ts";
import type { S3Request, S3Signer } from "./s3-sign.ts";
import { MOST_XML, readXml, type XmlElement } from "./s3-xml.ts";

/** How to send requests to S3. */
export interface S3SendOptions {
  /**
   * The platform's fetch.
   *
   * @default the global one
   */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /**
   * Attempts per request.
   *
   * @default 5
   */
  tries?: number;
  /**
   * Milliseconds until the first retry of a request; doubles each time, plus up to half as much at random.
   *
   * @default 250
   */
  pauseMs?: number;
  /**
   * Milliseconds that a request may take in addition to the time for its bytes.
   *
   * @default 30 s
   */
  timeoutMs?: number;
  /**
   * True on Node, whose fetch would otherwise copy request bodies: sends bytes as a stream with a Content-Length, which
   * fetch supports in no browser and no Worker.
   *
   * @default false
   */
  streamBodies?: boolean;
  /**
   * Called when a request got no answer. While the network is known to be down it waits a little and returns true, and the
   * attempt does not count.
   */
  reconnect?: (signal?: AbortSignal) => Promise<boolean>;
}

/** How to send one request. */
export interface Asked {
  purpose: S3Purpose;
  signal?: AbortSignal | undefined;
  /** Error statuses to return as answers, with their bodies already read; never applies to a missing bucket. */
  expected?: readonly number[];
}

/** A bucket that accepts requests. Every call rejects with a MediaError for its purpose, or with the signal's reason. */
export interface S3Bucket {
  readonly name: string;
  /** Sends a request and returns the response with its body unread. */
  send(request: S3Request, asked: Asked): Promise<Response>;
  /** Like `send`, and parses the XML of the response; null when it has no body. */
  ask(request: S3Request, asked: Asked): Promise<{ response: Response; xml: XmlElement | null }>;
}

// A connection slower than this counts as dead.
const BYTES_PER_MS = 256;
const MAX_PAUSE_MS = 20_000;

/**
 * Sends signed requests to a bucket. Transient failures (no connection, 5xx, 429) are retried with growing pauses, and a
 * wrong clock is corrected once.
 */
export function createS3Bucket(signer: S3Signer, options: S3SendOptions = {}): S3Bucket {
  const { tries = 5, pauseMs = 250, timeoutMs = 30_000, streamBodies = false } = options;
  const fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));

  async function attempt<T>(
    request: S3Request,
    { signal, expected }: Asked,
    take: (response: Response) => Promise<T>,
  ): Promise<{ value: T } | { fault: S3Fault; host: string; cause?: unknown; pause: number | null }> {
    const { url, headers } = await signer.sign(request);
    const host = URL.parse(url)?.host ?? "the given address";
    const { method, body = null } = request;
    const size = body instanceof Blob ? body.size : (body?.length ?? 0);
    const limit = limitTime(timeoutMs + Math.ceil(size / BYTES_PER_MS), { signal });
    try {
      // A redirect would leave the signed host.
      const whole = { method, headers, body, signal: limit.signal, redirect: "manual" } as const;
      const streamed = streamBodies && body instanceof Uint8Array;
      const response = await fetch(url, streamed ? { ...whole, ...asStream(body, headers) } : whole);
      if (response.ok) return { value: await take(response) };
      const fault = readS3Fault(response, await readText(response));
      const wanted = expected?.includes(response.status) && fault.code !== "NoSuchBucket";
      if (wanted) return { value: await take(response) };
      return { fault, host, pause: pauseOf(response) };
    } catch (cause) {
      signal?.throwIfAborted();
      // A host that must not be contacted, so a retry would not help.
      if (cause instanceof MediaError) throw cause;
      if (cause instanceof BadAnswer) return { fault: cause.fault, host, cause, pause: null };
      return { fault: { status: 0, code: "", server_ms: null }, host, cause, pause: null };
    } finally {
      limit.clear();
    }
  }

  async function send<T>(
    request: S3Request,
    asked: Asked,
    take: (response: Response) => Promise<T>,
  ): Promise<T> {
    let clock_set = false;
    for (let tried = 1; ; tried++) {
      asked.signal?.throwIfAborted();
      const outcome = await attempt(request, asked, take);
      if ("value" in outcome) return outcome.value;
      const { fault, host, cause, pause } = outcome;
      // A refused HEAD gives no reason.
      const skewed =
        fault.code === "RequestTimeTooSkewed" || (fault.code === "" && [400, 403].includes(fault.status));
      if (skewed && !clock_set && fault.server_ms !== null && signer.setClock(fault.server_ms)) {
        clock_set = true;
        continue;
      }
      if (fault.status === 0 && (await options.reconnect?.(asked.signal))) {
        tried--;
        continue;
      }
      if (!isPassing(fault) || tried >= tries)
        throw toS3Error(fault, asked.purpose, { host, bucket: signer.bucket }, cause);
      const growing = doubling(pauseMs)(tried) * (1 + Math.random() / 2);
      await sleep(Math.min(MAX_PAUSE_MS, Math.max(growing, pause ?? 0)), asked.signal);
    }
  }

  return {
    name: signer.bucket,
    send: (request, asked) => send(request, asked, async (response) => response),
    ask: (request, asked) =>
      send(request, asked, async (response) => {
        if (!response.ok) return { response, xml: null };
        const text = await readText(response);
        if (text.trim() === "") return { response, xml: null };
        const xml = parse(text, response);
        // Completing an upload may fail after a success status has been sent.
        if (xml.name === "Error") throw new BadAnswer(readS3Fault(response, text));
        return { response, xml };
      }),
  };
}

/** Returns the `upload_failed` error for a response that lacks a required part. */
export function lackingAnswer(what: string): MediaError {
  return new MediaError("upload_failed", `The storage's answer has no ${what}.`, { retryable: false });
}

// `duplex` is missing from some runtimes' types.
function asStream(bytes: Uint8Array, headers: Record<string, string>): RequestInit & { duplex: "half" } {
  const length = { "content-length": String(bytes.length) };
  return { body: streamOf(bytes), duplex: "half", headers: { ...headers, ...length } };
}

// A response with a success status that reports an error.
class BadAnswer extends Error {
  readonly fault: S3Fault;
  constructor(fault: S3Fault) {
    super("The answer is a fault.");
    this.fault = fault;
  }
}

// The server may be anybody's.
async function readText(response: Response): Promise<string> {
  try {
    return response.body ? new TextDecoder().decode(await readSome(response.body, MOST_XML)) : "";
  } catch (thrown) {
    throw thrown instanceof RangeError ? badAnswer(response) : thrown;
  }
}

function parse(text: string, response: Response): XmlElement {
  try {
    return readXml(text);
  } catch {
    throw badAnswer(response);
  }
}

const badAnswer = (response: Response) =>
  new BadAnswer({ ...readS3Fault(response, ""), ...(response.ok && { status: 502 }) });

function pauseOf(response: Response): number | null {
  const seconds = Number(response.headers.get("retry-after") ?? "");
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}
