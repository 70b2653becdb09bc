import { MediaError } from "../../media/errors.ts";
import { doubling, isTransient, limitTime, sleep } from "../../util/async.ts";
import * as errors from "../errors.ts";
import { isRefusal, type S3Purpose } from "../errors.ts";
import { readSome, streamOf } from "../storage.ts";
import type { S3Request, S3Signer } from "./s3-sign.ts";

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
   * Called when a request gets no answer. If the network is down, waits a little and returns true; the attempt then does not
   * count.
   */
  reconnect?: (signal?: AbortSignal) => Promise<boolean>;
}

/** How to send one request. */
export interface SendOptions {
  purpose: S3Purpose;
  signal?: AbortSignal | undefined;
  /** Error statuses to return as responses, with their bodies already read; never applies to a missing bucket. */
  expected?: readonly number[];
}

/** A bucket that accepts requests. Every call rejects with a MediaError for its purpose, or with the signal's reason. */
export interface S3Bucket {
  readonly name: string;
  /** Sends a request and returns the response with its body unread. */
  send(request: S3Request, options: SendOptions): Promise<Response>;
  /** Like `send`, and parses the XML of the response; null when it has no body. */
  ask(request: S3Request, options: SendOptions): Promise<{ response: Response; xml: XmlElement | null }>;
}

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
    { signal, expected }: SendOptions,
    parse: (response: Response) => Promise<T>,
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
      if (response.ok) return { value: await parse(response) };
      const fault = readS3Fault(response, await readText(response));
      const isExpected = expected?.includes(response.status) && fault.code !== "NoSuchBucket";
      if (isExpected) return { value: await parse(response) };
      return { fault, host, pause: pauseOf(response) };
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof MediaError) throw cause;
      if (cause instanceof BadAnswer) return { fault: cause.fault, host, cause, pause: null };
      return { fault: { status: 0, code: "", server_ms: null }, host, cause, pause: null };
    } finally {
      limit.clear();
    }
  }

  async function send<T>(
    request: S3Request,
    sendOptions: SendOptions,
    parse: (response: Response) => Promise<T>,
  ): Promise<T> {
    const { purpose, signal } = sendOptions;
    let clockSet = false;
    for (let count = 1; ; count++) {
      signal?.throwIfAborted();
      const outcome = await attempt(request, sendOptions, parse);
      if ("value" in outcome) return outcome.value;
      const { fault, host, cause, pause } = outcome;
      // A refused HEAD states no code.
      const isSkewed =
        fault.code === "RequestTimeTooSkewed" || (fault.code === "" && [400, 403].includes(fault.status));
      if (isSkewed && !clockSet && fault.server_ms !== null && signer.setClock(fault.server_ms)) {
        clockSet = true;
        continue;
      }
      if (fault.status === 0 && (await options.reconnect?.(signal))) {
        count--;
        continue;
      }
      if (!isRetryable(fault) || count >= tries)
        throw toS3Error(fault, purpose, { host, bucket: signer.bucket }, cause);
      const backoff = doubling(pauseMs)(count) * (1 + Math.random() / 2);
      await sleep(Math.min(MAX_PAUSE_MS, Math.max(backoff, pause ?? 0)), signal);
    }
  }

  return {
    name: signer.bucket,
    send: (request, sendOptions) => send(request, sendOptions, async (response) => response),
    ask: (request, sendOptions) =>
      send(request, sendOptions, async (response) => {
        if (!response.ok) return { response, xml: null };
        const text = await readText(response);
        if (text.trim() === "") return { response, xml: null };
        const xml = parseXml(text, response);
        // Completing an upload may fail after the success status was sent.
        if (xml.name === "Error") throw new BadAnswer(readS3Fault(response, text));
        return { response, xml };
      }),
  };
}

function asStream(bytes: Uint8Array, headers: Record<string, string>): RequestInit & { duplex: "half" } {
  const length = { "content-length": String(bytes.length) };
  return { body: streamOf(bytes), duplex: "half", headers: { ...headers, ...length } };
}

class BadAnswer extends Error {
  readonly fault: S3Fault;
  constructor(fault: S3Fault) {
    super();
    this.fault = fault;
  }
}

async function readText(response: Response): Promise<string> {
  try {
    return response.body ? new TextDecoder().decode(await readSome(response.body, MAX_XML)) : "";
  } catch (thrown) {
    throw thrown instanceof RangeError ? badAnswer(response) : thrown;
  }
}

function parseXml(text: string, response: Response): XmlElement {
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

/** An error response, or none. */
interface S3Fault {
  /** 0 when there was no answer. */
  status: number;
  /** The service's code, such as `NoSuchBucket`; empty when there was none. */
  code: string;
  /** The service's clock in milliseconds since the Unix epoch; null when not stated. */
  server_ms: number | null;
}

const FULL: ReadonlySet<string> = new Set([
  "InsufficientStorage",
  "QuotaExceeded",
  "StorageFull",
  "XMinioAdminBucketQuotaExceeded",
  "XMinioStorageFull",
]);
const RETRYABLE_CODES: ReadonlySet<string> = new Set([
  "BadDigest",
  "IncompleteBody",
  "InternalError",
  "OperationAborted",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
  "TooManyRequests",
  "XAmzContentSHA256Mismatch",
]);
const REDIRECTS: ReadonlySet<string> = new Set(["PermanentRedirect", "TemporaryRedirect", "Redirect"]);

/** Parses the error in a response and its text, which may be empty, as after a HEAD. */
export function readS3Fault({ status, headers }: Response, text: string): S3Fault {
  const date = timeOf(headers.get("date"));
  try {
    const error = readXml(text);
    if (error.name !== "Error") return { status, code: "", server_ms: date };
    return { status, code: textOf(error, "Code"), server_ms: timeOf(textOf(error, "ServerTime")) ?? date };
  } catch {
    return { status, code: "", server_ms: date };
  }
}

function isRetryable({ status, code }: S3Fault): boolean {
  return !isFull({ status, code }) && (status === 0 || isTransient(status) || RETRYABLE_CODES.has(code));
}

/** Creates the error for a fault. */
export function toS3Error(
  fault: S3Fault,
  purpose: S3Purpose,
  { host, bucket }: { host: string; bucket: string },
  cause?: unknown,
): MediaError {
  const { status, code } = fault;
  if (status === 0) return errors.s3NoAnswer({ purpose, host, cause });
  const denied = { purpose, host, bucket, status, code, cause };
  if (isFull(fault)) return errors.bucketFull(denied);
  if (code === "NoSuchBucket") return errors.bucketNotFound(denied);
  if (REDIRECTS.has(code) || (status >= 300 && status < 400)) return errors.bucketElsewhere(denied);
  if (isRefusal(code) || status === 401 || status === 403) return errors.bucketRefused(denied);
  if (status === 404 && purpose === "read") return errors.s3ObjectNotFound(denied);
  return errors.s3Failed({ ...denied, retryable: isRetryable(fault) });
}

function isFull({ status, code }: Pick<S3Fault, "status" | "code">): boolean {
  return status === 507 || FULL.has(code);
}

function timeOf(text: string | null): number | null {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? null : ms;
}

/** An element of an XML response: its decoded text and child elements. */
interface XmlElement {
  name: string;
  /** The element's own text; empty when it has children. */
  text: string;
  children: XmlElement[];
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
// A list of a thousand long keys has fewer characters.
const MAX_XML = 8_000_000;
const MAX_DEPTH = 16;
const TOKEN =
  /<\?[^?]*\?>|<!--[^-]*-->|<\/([^\s<>/]+)\s*>|<([^\s<>/!?]+)((?:\s+[^\s<>/="']+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;

/**
 * Parses the XML of a response: elements and text, without entities or references to other documents. Throws an Error for
 * anything else.
 */
export function readXml(text: string): XmlElement {
  if (text.length > MAX_XML) throw errors.xmlTooLong();
  const top: XmlElement = { name: "", text: "", children: [] };
  const open: XmlElement[] = [top];
  let at = 0;
  for (const [token, end, start, , selfClosing, content] of text.trim().matchAll(TOKEN)) {
    at += token.length;
    const inner = open.at(-1) ?? top;
    if (content !== undefined) inner.text += decode(content);
    else if (end !== undefined) {
      if (inner.name !== end || open.length === 1) throw errors.xmlNotOpen();
      if (inner.children.length > 0) inner.text = "";
      open.pop();
    } else if (start !== undefined) {
      const element: XmlElement = { name: start, text: "", children: [] };
      inner.children.push(element);
      if (selfClosing === "") open.push(element);
      if (open.length > MAX_DEPTH) throw errors.xmlTooDeep();
    }
  }
  const [root] = top.children;
  if (at !== text.trim().length || open.length > 1 || top.children.length !== 1 || !root || top.text.trim()) {
    throw errors.xmlNotResponse();
  }
  return root;
}

/** Returns the text of the first child with a name; empty when there is none. */
export function textOf(element: XmlElement, name: string): string {
  return element.children.find((child) => child.name === name)?.text ?? "";
}

export function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

export function xmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function decode(text: string): string {
  return text.replaceAll(/&([^;&\s]{1,10});|&/g, (whole, name: string | undefined) => {
    const number = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name ?? "");
    const code = number ? Number.parseInt(number[1] ?? number[2] ?? "", number[1] ? 16 : 10) : null;
    if (code !== null && code <= 0x10ffff) return String.fromCodePoint(code);
    const character = Object.hasOwn(ENTITIES, name ?? "") ? ENTITIES[name ?? ""] : undefined;
    if (character === undefined) throw errors.xmlEntityUnknown({ entity: whole });
    return character;
  });
}
