import { MediaError } from "../../core/errors.ts";
import { doubling } from "../../util/retry.ts";
import { sleep } from "../../util/sleep.ts";
import { limitTime } from "../../util/time-limit.ts";
import { streamOf } from "../read-all.ts";
import { isPassing, readS3Fault, type S3Fault, type S3Purpose, toS3Error } from "./s3-error.ts";
import type { S3Request, S3Signer } from "./s3-sign.ts";
import { readXml, type XmlElement } from "./s3-xml.ts";

/** How requests to S3 are sent. */
export interface S3SendOptions {
  /** The platform's fetch; default the global one. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Tries of one request in all; default 5. */
  tries?: number;
  /** Milliseconds until a request is first repeated, twice as long each further time, and up to half as long again by chance; default 250. */
  pause_ms?: number;
  /** Milliseconds that a request may take beside those for its bytes; default 30 s. */
  timeout_ms?: number;
  /** True on Node, whose fetch else copies what it sends: bytes go as a stream with their Content-Length, which fetch takes in no browser and no Worker. Default false. */
  stream_bodies?: boolean;
  /** Called when there was no answer: where the network is known to be gone it waits a little and gives true, and the try does not count. */
  reconnect?: (signal?: AbortSignal) => Promise<boolean>;
}

/** How one request is sent. */
export interface Asked {
  purpose: S3Purpose;
  signal?: AbortSignal | undefined;
  /** Statuses beside the good ones that are an answer too, whose bodies are read already; never that there is no such bucket. */
  expected?: readonly number[];
}

/** A bucket that takes requests. Everything rejects with a MediaError of the purpose, or with the signal's reason. */
export interface S3Bucket {
  readonly name: string;
  /** Sends a request and gives its answer, the body not read yet. */
  send(request: S3Request, asked: Asked): Promise<Response>;
  /** The same with the XML of its answer; null where that has no body. */
  ask(request: S3Request, asked: Asked): Promise<{ response: Response; xml: XmlElement | null }>;
}

// A line slower than this is as good as none.
const BYTES_PER_MS = 256;
const MAX_PAUSE_MS = 20_000;

/** Sends signed requests to a bucket: what may pass (no connection, 5xx, 429) is tried again with growing pauses, and a wrong clock is set right once. */
export function createS3Bucket(signer: S3Signer, options: S3SendOptions = {}): S3Bucket {
  const { tries = 5, pause_ms = 250, timeout_ms = 30_000, stream_bodies = false } = options;
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
    const limit = limitTime(timeout_ms + Math.ceil(size / BYTES_PER_MS), { signal });
    try {
      // A redirect would lead elsewhere than what was signed.
      const whole = { method, headers, body, signal: limit.signal, redirect: "manual" } as const;
      const streamed = stream_bodies && body instanceof Uint8Array;
      const response = await fetch(url, streamed ? { ...whole, ...asStream(body, headers) } : whole);
      if (response.ok) return { value: await take(response) };
      const fault = readS3Fault(response, await response.text());
      const wanted = expected?.includes(response.status) && fault.code !== "NoSuchBucket";
      if (wanted) return { value: await take(response) };
      return { fault, host, pause: pauseOf(response) };
    } catch (cause) {
      signal?.throwIfAborted();
      // A host that may not be contacted: to try again would not help.
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
      // A HEAD that is refused says no more than that.
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
      const growing = doubling(pause_ms)(tried) * (1 + Math.random() / 2);
      await sleep(Math.min(MAX_PAUSE_MS, Math.max(growing, pause ?? 0)), asked.signal);
    }
  }

  return {
    name: signer.bucket,
    send: (request, asked) => send(request, asked, async (response) => response),
    ask: (request, asked) =>
      send(request, asked, async (response) => {
        if (!response.ok) return { response, xml: null };
        const text = await response.text();
        if (text.trim() === "") return { response, xml: null };
        const xml = parse(text, response);
        // A completed upload may fail after its good status was sent.
        if (xml.name === "Error") throw new BadAnswer(readS3Fault(response, text));
        return { response, xml };
      }),
  };
}

/** Makes `upload_failed` of an answer without what it should have. */
export function lackingAnswer(what: string): MediaError {
  return new MediaError("upload_failed", `The storage's answer has no ${what}.`, { retryable: false });
}

// `duplex` is not in the types of every runtime.
function asStream(bytes: Uint8Array, headers: Record<string, string>): RequestInit & { duplex: "half" } {
  const length = { "content-length": String(bytes.length) };
  return { body: streamOf(bytes), duplex: "half", headers: { ...headers, ...length } };
}

// An answer with a good status that is a fault all the same.
class BadAnswer extends Error {
  readonly fault: S3Fault;
  constructor(fault: S3Fault) {
    super("The answer is a fault.");
    this.fault = fault;
  }
}

function parse(text: string, response: Response): XmlElement {
  try {
    return readXml(text);
  } catch {
    throw new BadAnswer({ ...readS3Fault(response, ""), status: 502 });
  }
}

function pauseOf(response: Response): number | null {
  const seconds = Number(response.headers.get("retry-after") ?? "");
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}
