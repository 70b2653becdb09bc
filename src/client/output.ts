import { MediaError } from "../media/errors.ts";
import type { Source } from "../media/source.ts";
import { limitTime } from "../util/async.ts";
import type { Output } from "./client.ts";
import * as errors from "./errors.ts";
import type { Fetch } from "./http.ts";
import type { ReadOptions } from "./records.ts";

const FORBIDDEN: ReadonlySet<string> = new Set([
  "NotAllowedError",
  "NoModificationAllowedError",
  "SecurityError",
]);

/**
 * Writes a stream to a file that the visitor chose; on failure the file keeps its content. Rejects with `storage_full`,
 * `forbidden`, `upload_failed`, the signal's reason, or as the stream does.
 */
export async function saveTo(
  handle: FileSystemFileHandle,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { signal }: ReadOptions = {},
): Promise<void> {
  let file: FileSystemWritableFileStream;
  try {
    file = await handle.createWritable();
  } catch (thrown) {
    await body.cancel();
    throw saveError(thrown);
  }
  try {
    await body.pipeTo(file, signal && { signal });
  } catch (thrown) {
    signal?.throwIfAborted();
    throw saveError(thrown);
  }
}

function saveError(thrown: unknown): MediaError {
  if (thrown instanceof MediaError) return thrown;
  const name = thrown instanceof Error || thrown instanceof DOMException ? thrown.name : "";
  const cause = thrown;
  if (name === "QuotaExceededError") return errors.fileFull({ cause });
  return FORBIDDEN.has(name) ? errors.fileForbidden({ cause }) : errors.fileUnwritable({ cause });
}

const RESPONSE_MS = 30_000;

/** Parses a service's error from the body of a response; null for any other body. */
export type ReadError = (body: string, status: number) => MediaError | null;

/**
 * Returns an {@link Output} for the bytes behind a source's signed URL, fetched without any key; throws `media_not_found` for
 * output in the caller's own bucket. A page without a service omits `readError`, because its schemas would triple the download.
 */
export function createRemoteOutput(source: Source, fetch: Fetch, readError: ReadError = () => null): Output {
  if (!/^https?:/i.test(source.url)) throw errors.outputElsewhere();

  async function open({ signal }: ReadOptions): Promise<Response> {
    const limit = limitTime(RESPONSE_MS, { signal });
    try {
      // A browser with a cached copy must check that the output still exists.
      const response = await fetch(source.url, { cache: "no-cache", signal: limit.signal });
      if (!response.ok)
        throw readError(await response.text(), response.status) ?? statusError(response.status);
      return response;
    } catch (thrown) {
      throw connectionError(thrown, signal);
    } finally {
      limit.clear();
    }
  }

  async function stream(options: ReadOptions = {}): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { body } = await open(options);
    return withMediaErrors(body ?? new Blob().stream(), options);
  }

  return {
    source,
    url: async () => source.url,
    async blob(options = {}) {
      const response = await open(options);
      return response
        .blob()
        .catch((thrown: unknown) => Promise.reject(connectionError(thrown, options.signal)));
    },
    stream,
    saveTo: async (handle, options) => saveTo(handle, await stream(options), options),
  };
}

function withMediaErrors(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { signal }: ReadOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          signal?.throwIfAborted();
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (thrown) {
          controller.error(connectionError(thrown, signal));
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

// The URL alone grants access to the media, so no message contains it.
function statusError(status: number): MediaError {
  if (status === 404 || status === 410) return errors.outputNotFound();
  if (status === 401 || status === 403) return errors.outputUrlExpired();
  return errors.outputNotSent({ status });
}

// Some browsers reject an aborted read with another error than the signal's reason.
function connectionError(thrown: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (thrown instanceof MediaError) return thrown;
  return errors.outputConnectionLost({ cause: thrown });
}
