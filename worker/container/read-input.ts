import { MediaError, toMediaError } from "../../src/core/errors.ts";
import type { ByteRange } from "../../src/core/ports.ts";
import type { RemoteFiles } from "../../src/encoders/encoder.ts";
import { readExactly } from "../../src/storage/http/http-body.ts";
import { contentLength, parseContentRange } from "../../src/storage/http/http-facts.ts";
import { discard, requestHttp, unreachable } from "../../src/storage/http/http-request.ts";
import { doubling, retry } from "../../src/util/retry.ts";

/** Tries of one range in all, and how long is waited between them: twice as long each further time. */
export const READ_TRIES = { most: 5, pauseMs: 200 } as const;

// Our own sources respond at once; a request without a response for this long is repeated.
const TIMEOUTS = { headersMs: 15_000, idleMs: 15_000 } as const;

/**
 * Reads a range of a job's input. Network faults are tried again a few times. Rejects with `input_unreachable`,
 * `input_not_found` or `input_forbidden`, and at once with `input_changed` when the source is not the one that was probed.
 */
export function readInput(
  input: RemoteFiles["input"],
  range: ByteRange,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const read = () =>
    readOnce(input, range, signal).catch((thrown: unknown) => {
      signal.throwIfAborted();
      throw toMediaError(thrown, "input_unreachable");
    });
  return retry(read, {
    tries: READ_TRIES.most,
    pauseMs: doubling(READ_TRIES.pauseMs),
    signal,
    helps: (thrown) => !signal.aborted && toMediaError(thrown).retryable,
  });
}

async function readOnce({ url, size, etag }: RemoteFiles["input"], range: ByteRange, signal: AbortSignal) {
  const { start, end } = range;
  const strong = etag !== "" && !etag.startsWith("W/");
  const headers = {
    Range: `bytes=${start}-${end - 1}`,
    ...(strong && { "If-Range": `"${bare(etag)}"` }),
  };
  // The service names the final URL. A redirect does not come from the service, and could lead anywhere.
  const guard = (at: string | URL) => {
    if (String(at) === url) return;
    throw new MediaError("input_forbidden", "The source of a job must not be redirected.");
  };
  const options = { fetch: (at: string, init: RequestInit) => fetch(at, init), guard, signal };
  const { response } = await requestHttp(url, headers, { ...options, timeouts: TIMEOUTS }, [412, 416]);
  try {
    if (response.status === 412) throw changed();
    const got = parseContentRange(response.headers.get("content-range"));
    const now = response.headers.get("etag");
    const same = now === null || etag === "" || bare(now) === bare(etag);
    // With If-Range, an answer of the whole file says that it is another one.
    const total = response.status === 206 ? got?.total : contentLength(response);
    if (!same || (total != null && total !== size)) throw changed();
    if (response.status !== 206) {
      throw now === null ? unreachable(url, "gives no ranges", false) : changed();
    }
    if (got?.start !== start || got.end !== end) {
      throw unreachable(url, "did not give the range it was asked for", true);
    }
    return await readExactly(response, end - start, { idleMs: TIMEOUTS.idleMs, signal, url });
  } catch (thrown) {
    await discard(response);
    throw thrown;
  }
}

function bare(etag: string): string {
  return etag.replace(/^W\//, "").replaceAll('"', "");
}

function changed(): MediaError {
  return new MediaError(
    "input_changed",
    "The source changed after it was probed; start again to encode what it is now.",
  );
}
