import type { RemoteFiles } from "../../src/encoders/encoder.ts";
import { toMediaError } from "../../src/media/errors.ts";
import type { ByteRange } from "../../src/runs/ports.ts";
import { type Filling, fillExactly } from "../../src/storage/http/reader.ts";
import {
  contentLength,
  discard,
  parseContentRange,
  requestHttp,
  unreachable,
} from "../../src/storage/http/request.ts";
import { doubling, retry } from "../../src/util/async.ts";
import { errors } from "./errors.ts";

/** Attempts to read a range, and the first pause between them, which doubles each time. */
export const READ_TRIES = { max: 5, pauseMs: 200 } as const;

// The service responds at once; a request without a response for this long is repeated.
const TIMEOUTS = { headersMs: 15_000, idleMs: 15_000 } as const;

/**
 * Reads a range of a job's input, and resumes a few times after network errors. Rejects with `input_unreachable`, `input_not_found` or
 * `input_forbidden`, and at once with `input_changed` when the source is no longer the one that was probed.
 */
export async function readInput(
  input: RemoteFiles["input"],
  range: ByteRange,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const filling: Filling = { bytes: new Uint8Array(range.end - range.start), filled: 0 };
  const read = () =>
    readRest(input, range, filling, signal).catch((thrown: unknown) => {
      signal.throwIfAborted();
      throw toMediaError(thrown, "input_unreachable");
    });
  await retry(read, {
    tries: READ_TRIES.max,
    pauseMs: doubling(READ_TRIES.pauseMs),
    signal,
    helps: (thrown) => !signal.aborted && toMediaError(thrown).retryable,
  });
  return filling.bytes;
}

async function readRest(
  { url, size, etag }: RemoteFiles["input"],
  range: ByteRange,
  filling: Filling,
  signal: AbortSignal,
): Promise<void> {
  const strong = etag !== "" && !etag.startsWith("W/");
  // Only a strong ETag proves that the rest is of the same version. With one, the response starts at bytes that the service has yet to
  // fetch, so its status can still report an error.
  if (!strong) filling.filled = 0;
  const start = range.start + filling.filled;
  const { end } = range;
  const headers = {
    Range: `bytes=${start}-${end - 1}`,
    ...(strong && { "If-Range": `"${bare(etag)}"` }),
  };
  // The service gives final URLs: a redirect does not come from it, and could lead anywhere.
  const guard = (at: string | URL) => {
    if (String(at) === url) return;
    throw errors.inputRedirected();
  };
  const options = { fetch: (at: string, init: RequestInit) => fetch(at, init), guard, signal };
  const { response } = await requestHttp(url, headers, { ...options, timeouts: TIMEOUTS }, [412, 416]);
  try {
    if (response.status === 412) throw errors.inputChanged();
    const received = parseContentRange(response.headers.get("content-range"));
    const current = response.headers.get("etag");
    const same = current === null || etag === "" || bare(current) === bare(etag);
    // In response to If-Range, a complete file is another version.
    const total = response.status === 206 ? received?.total : contentLength(response);
    if (!same || (total != null && total !== size)) throw errors.inputChanged();
    if (response.status !== 206) {
      throw current === null ? unreachable(url, "gives no ranges", false) : errors.inputChanged();
    }
    if (received?.start !== start || received.end !== end) {
      throw unreachable(url, "did not give the range it was asked for", true);
    }
    await fillExactly(response, filling, { idleMs: TIMEOUTS.idleMs, signal, url });
  } catch (thrown) {
    await discard(response);
    throw thrown;
  }
}

function bare(etag: string): string {
  return etag.replace(/^W\//, "").replaceAll('"', "");
}
