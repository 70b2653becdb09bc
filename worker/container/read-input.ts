import { toMediaError } from "../../src/core/errors.ts";
import type { ByteRange } from "../../src/core/ports.ts";
import type { RemoteFiles } from "../../src/encoders/encoder.ts";
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

/** Tries of one range in all, and how long is waited between them: twice as long each further time. */
export const READ_TRIES = { most: 5, pauseMs: 200 } as const;

// Our own sources respond at once; a request without a response for this long is repeated.
const TIMEOUTS = { headersMs: 15_000, idleMs: 15_000 } as const;

/**
 * Reads a range of a job's input. After a network fault the rest is requested, a few times. Rejects with `input_unreachable`,
 * `input_not_found` or `input_forbidden`, and at once with `input_changed` when the source is not the one that was probed.
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
    tries: READ_TRIES.most,
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
  // Without it, nothing proves that the rest is of the same version. With it, the answer begins at what the service has yet to fetch:
  // there it can still state a fault by its status.
  if (!strong) filling.filled = 0;
  const start = range.start + filling.filled;
  const { end } = range;
  const headers = {
    Range: `bytes=${start}-${end - 1}`,
    ...(strong && { "If-Range": `"${bare(etag)}"` }),
  };
  // The service names the final URL. A redirect does not come from the service, and could lead anywhere.
  const guard = (at: string | URL) => {
    if (String(at) === url) return;
    throw errors.inputRedirected();
  };
  const options = { fetch: (at: string, init: RequestInit) => fetch(at, init), guard, signal };
  const { response } = await requestHttp(url, headers, { ...options, timeouts: TIMEOUTS }, [412, 416]);
  try {
    if (response.status === 412) throw errors.inputChanged();
    const got = parseContentRange(response.headers.get("content-range"));
    const now = response.headers.get("etag");
    const same = now === null || etag === "" || bare(now) === bare(etag);
    // With If-Range, an answer of the whole file says that it is another one.
    const total = response.status === 206 ? got?.total : contentLength(response);
    if (!same || (total != null && total !== size)) throw errors.inputChanged();
    if (response.status !== 206) {
      throw now === null ? unreachable(url, "gives no ranges", false) : errors.inputChanged();
    }
    if (got?.start !== start || got.end !== end) {
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
