import { z } from "zod";
import type { MediaError } from "../../media/errors.ts";
import type { ByteRange } from "../../runs/ports.ts";
import { doubling, isTransient, sleep } from "../../util/async.ts";
import { MIB } from "../../util/bytes.ts";
import { parseJson } from "../../util/text.ts";
import * as errors from "../errors.ts";
import { discard } from "./request.ts";

/** A file of known size to upload. */
export interface FileBody {
  size: number;
  /**
   * Opens a range of the file; called again for each retry. A Blob is read while it is sent, so nothing is kept in memory.
   */
  open(range: ByteRange): Promise<Blob | Uint8Array<ArrayBuffer>>;
}

export interface WriteOptions {
  fetch(url: string, init: RequestInit): Promise<Response>;
  signal: AbortSignal;
  /** Milliseconds until the first retry of a request; doubles each time. Default 250. */
  pauseMs?: number;
  /** Milliseconds that a request may take in addition to the time for its bytes. Default 30 s. */
  timeoutMs?: number;
}

/** Files up to this many bytes are uploaded in one request. */
export const MAX_PUT_BYTES = 32 * MIB;
/** Size of each part of a larger file except the last, in bytes. */
export const PART_BYTES = 16 * MIB;
/** Attempts per request. */
export const WRITE_TRIES = 5;

const BYTES_PER_MS = 256;
const Written = z.object({ size: z.int().min(0), etag: z.string() });
const UploadStart = z.object({ upload: z.string().min(1) });
const Part = z.object({ etag: z.string() });
const Fault = z.object({ kind: z.string(), message: z.string() });

/**
 * Uploads a file to a URL that accepts files, in one request or in parts, and returns its size and ETag. Retries failures of
 * the network and the server a few times. Rejects with `upload_forbidden`, `storage_full` or `upload_failed`; an upload in
 * parts is then removed.
 */
export async function putFile(
  url: string,
  body: FileBody,
  mime: string,
  options: WriteOptions,
): Promise<z.infer<typeof Written>> {
  const type = { "Content-Type": mime };
  const { size } = body;
  if (size <= MAX_PUT_BYTES) {
    const whole = { start: 0, end: size };
    return checkWritten(
      size,
      await send(url, { method: "PUT", headers: type }, Written, options, () => body.open(whole)),
    );
  }
  const { upload } = await send(`${url}?uploads`, { method: "POST", headers: type }, UploadStart, options);
  const at = `${url}?upload=${encodeURIComponent(upload)}`;
  try {
    const parts: { part: number; etag: string }[] = [];
    for (let start = 0; start < size; start += PART_BYTES) {
      const part = parts.length + 1;
      const range = { start, end: Math.min(size, start + PART_BYTES) };
      const { etag } = await send(`${at}&part=${part}`, { method: "PUT" }, Part, options, () =>
        body.open(range),
      );
      parts.push({ part, etag });
    }
    const json = { "Content-Type": "application/json" };
    const list = async () => Uint8Array.from(new TextEncoder().encode(JSON.stringify({ parts })));
    return checkWritten(size, await send(at, { method: "POST", headers: json }, Written, options, list));
  } catch (thrown) {
    // This runs after an abort too, so it ignores the signal. If it fails, the upload expires.
    const removed = await options
      .fetch(at, { method: "DELETE", signal: AbortSignal.timeout(5000) })
      .catch(() => null);
    if (removed) await discard(removed);
    throw thrown;
  }
}

async function send<T>(
  url: string,
  init: RequestInit,
  schema: z.ZodType<T>,
  { fetch, signal, pauseMs = 250, timeoutMs = 30_000 }: WriteOptions,
  open?: () => Promise<Blob | Uint8Array<ArrayBuffer>>,
): Promise<T> {
  const pause = doubling(pauseMs);
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    const body = open ? await open() : null;
    const size = body === null ? 0 : body instanceof Blob ? body.size : body.length;
    const timeout = AbortSignal.timeout(timeoutMs + Math.ceil(size / BYTES_PER_MS));
    const either = AbortSignal.any([signal, timeout]);
    let response: Response | null = null;
    let fault: unknown;
    try {
      response = await fetch(url, { ...init, body, signal: either, redirect: "error" });
      if (response.ok) {
        const answer = schema.safeParse(await response.json());
        if (answer.success) return answer.data;
        fault = answer.error;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      fault = thrown;
    }
    const transient = response === null || response.ok || isTransient(response.status);
    if (!transient || attempt >= WRITE_TRIES) throw await toFault(url, response, fault);
    if (response && !response.bodyUsed) await discard(response);
    await sleep(pause(attempt), signal);
  }
}

function checkWritten<T extends { size: number }>(size: number, written: T): T {
  if (written.size === size) return written;
  throw errors.uploadIncomplete({ size, storedBytes: written.size });
}

async function toFault(url: string, response: Response | null, cause: unknown): Promise<MediaError> {
  if (!response) return errors.outputNoAnswer({ url, cause });
  const { status } = response;
  if (response.ok) return errors.outputAnswerInvalid({ url, cause });
  const text = await response.text().catch(() => "");
  const parsed = Fault.safeParse(parseJson(text));
  const { kind, message } = parsed.data ?? { kind: "", message: "" };
  if (kind === "storage_full" || status === 507) return errors.outputFull({ url, message });
  if (status === 401 || status === 403) return errors.outputForbidden({ url, status, message });
  return errors.outputRefused({ url, status, message, retryable: isTransient(status) });
}
