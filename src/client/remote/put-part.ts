import { MediaError } from "../../core/errors.ts";
import type { UploadPart } from "../../core/upload.ts";
import { doubling, isTransient, retry } from "../../util/async.ts";
import type { Fetch } from "./http.ts";

export interface PutOptions {
  /** Null to use XMLHttpRequest, which alone reports the bytes sent so far. */
  fetch: Fetch | null;
  signal: AbortSignal;
  /** Called with the bytes of the part sent so far. */
  onSent(bytes: number): void;
}

const TRIES = 5;
const PAUSE_MS = 250;
const ANSWER_MS = 30_000;
// A slower connection counts as dead.
const BYTES_PER_MS = 32;

/**
 * Uploads a part and resolves to its ETag, or null when the storage does not expose it. Retries failures of the network and
 * the storage a few times; rejects with `upload_forbidden`, `storage_full` or `upload_failed`.
 */
export function putPart(part: UploadPart, body: Blob, options: PutOptions): Promise<string | null> {
  const { signal } = options;
  return retry(() => putOnce(part, body, options), {
    tries: TRIES,
    pauseMs: doubling(PAUSE_MS),
    signal,
    helps: (thrown) => !signal.aborted && thrown instanceof MediaError && thrown.retryable,
  });
}

async function putOnce(part: UploadPart, body: Blob, options: PutOptions): Promise<string | null> {
  const late = AbortSignal.timeout(ANSWER_MS + Math.ceil(body.size / BYTES_PER_MS));
  const signal = AbortSignal.any([options.signal, late]);
  const put = options.fetch ? putByFetch(options.fetch) : putByXhr;
  // Status 0: no answer came.
  const none = { status: 0, etag: null };
  const { status, etag } = await put(part, body, signal, options.onSent).catch(() => none);
  options.signal.throwIfAborted();
  if (status >= 200 && status < 300) return etag;
  throw faultOf(part.url, status);
}

type Put = (
  part: UploadPart,
  body: Blob,
  signal: AbortSignal,
  onSent: (bytes: number) => void,
) => Promise<{ status: number; etag: string | null }>;

function putByFetch(fetch: Fetch): Put {
  return async ({ url, headers }, body, signal, onSent) => {
    const response = await fetch(url, {
      method: "PUT",
      headers: settable(headers),
      body,
      signal,
      redirect: "error",
    });
    await response.arrayBuffer();
    if (response.ok) onSent(body.size);
    return { status: response.status, etag: response.headers.get("ETag") };
  };
}

const putByXhr: Put = ({ url, headers }, body, signal, onSent) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    for (const [name, value] of Object.entries(settable(headers))) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded }) => onSent(Math.min(loaded, body.size)));
    const abort = () => request.abort();
    signal.addEventListener("abort", abort, { once: true });
    request.addEventListener("loadend", () => {
      signal.removeEventListener("abort", abort);
      const { status } = request;
      if (status === 0) return reject(new Error("No answer came."));
      if (status < 300) onSent(body.size);
      resolve({ status, etag: request.getResponseHeader("ETag") });
    });
    if (signal.aborted) return reject(signal.reason);
    // Send the type in the header, not that of the slice.
    request.send(new Blob([body], { type: headers["content-type"] ?? headers["Content-Type"] ?? "" }));
  });

// Platforms set these themselves, and reject a request that sets them.
function settable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(content-length|host)$/i.test(name)),
  );
}

function faultOf(url: string, status: number): MediaError {
  // The rest of the URL grants access, so no message contains it.
  const host = URL.parse(url)?.host ?? "the storage";
  if (status === 401 || status === 403)
    return new MediaError("upload_forbidden", `${host} refuses the file (it answered ${status}).`);
  if (status === 507) return new MediaError("storage_full", `The storage at ${host} is full.`);
  const what = status === 0 ? "could not be reached" : `answered ${status}`;
  return new MediaError("upload_failed", `${host} ${what} when the file was sent.`, {
    retryable: status === 0 || isTransient(status),
  });
}
