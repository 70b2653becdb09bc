import { MediaError } from "../../core/errors.ts";
import { limitTime } from "../../util/async.ts";
import { sha256Hex } from "../../util/bytes.ts";
import type { CoreFile } from "./core-load-facts.ts";
import { freeBuffer } from "./free-buffer.ts";

export interface FileLoad {
  url: string | URL;
  /** What it is, for messages; by default the encoder core. */
  name?: string;
  /** What the downloaded file must match once uncompressed. */
  file: CoreFile;
  /** Name of the cache; null disables caching. */
  cache: string | null;
  stallSeconds: number;
  signal: AbortSignal;
  /** Receives the number of uncompressed bytes read so far. */
  onBytes(bytes: number): void;
}

/**
 * Loads a file, plain or gzipped, from the cache or the network, and returns it uncompressed and verified. Rejects with
 * `encoder_unavailable`.
 */
export async function loadFile(load: FileLoad): Promise<Uint8Array<ArrayBuffer>> {
  const { url, cache } = load;
  const cached = await findCached(cache, url);
  if (cached?.body) {
    // Download the original again when the cached copy is damaged.
    const kept = await readFile(load, cached.body).catch(() => null);
    load.signal.throwIfAborted();
    if (kept) return kept;
  }
  const bytes = await fetchFile(load);
  // Cached uncompressed, so that the next visit skips that work. Nothing waits for the write.
  void keepCached(cache, url, new Response(bytes));
  return bytes;
}

async function fetchFile(load: FileLoad): Promise<Uint8Array<ArrayBuffer>> {
  const stall = limitTime(load.stallSeconds * 1000, { signal: load.signal });
  try {
    const response = await fetch(load.url, { signal: stall.signal }).catch((cause: unknown) => {
      throw unreachable(load, "no answer", cause);
    });
    if (!response.ok || !response.body) {
      await response.body?.cancel();
      throw unreachable(load, `status ${response.status}`);
    }
    return await readFile(load, response.body, stall.restart);
  } catch (thrown) {
    load.signal.throwIfAborted();
    throw stall.isOver ? unreachable(load, "it came no further") : thrown;
  } finally {
    stall.clear();
  }
}

async function readFile(
  load: FileLoad,
  body: ReadableStream<BufferSource>,
  onPart = () => {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { file, onBytes } = load;
  let fault: unknown;
  const packed = watch(body, onPart, (thrown) => {
    fault = unreachable(load, "the connection broke", thrown);
  });
  const bytes = new Uint8Array(file.size);
  let length = 0;
  const reader = (await unpack(packed)).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (length + value.length > bytes.length) throw wrong(load, "it is too long");
      bytes.set(value, length);
      length += value.length;
      freeBuffer(value);
      onBytes(length);
    }
  } catch (thrown) {
    // Cancelling below also looks like a broken connection.
    const broken = fault;
    await reader.cancel().catch(() => {});
    if (broken) throw broken;
    throw thrown instanceof MediaError ? thrown : wrong(load, "it is damaged or cut off", thrown);
  }
  if (length < bytes.length) throw wrong(load, `it is cut off at ${length} of ${bytes.length} bytes`);
  if ((await sha256(bytes)) !== file.sha256) throw wrong(load, "it has other contents");
  return bytes;
}

// The server may already have undone the gzip (Content-Encoding), so look at the bytes.
async function unpack(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const [head, whole] = await peek(body);
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  return isGzip ? whole.pipeThrough(new DecompressionStream("gzip")) : whole;
}

async function peek(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<[Uint8Array, ReadableStream<Uint8Array<ArrayBuffer>>]> {
  const reader = body.getReader();
  const first = await reader.read().catch(() => ({ done: true, value: undefined }));
  const whole = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      if (first.value) controller.enqueue(first.value);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return [first.value ?? new Uint8Array(), whole];
}

function watch(
  body: ReadableStream<BufferSource>,
  onPart: () => void,
  onFault: (thrown: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        onPart();
        controller.enqueue(value as Uint8Array<ArrayBuffer>);
      } catch (thrown) {
        onFault(thrown);
        throw thrown;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  // crypto.subtle is missing on a page served over plain http from another machine.
  if (!globalThis.crypto?.subtle) {
    throw new MediaError(
      "encoder_unavailable",
      "The core cannot be checked: the page is not in a secure context.",
    );
  }
  return sha256Hex(bytes);
}

const CORE = "encoder core";

function unreachable({ url, name = CORE }: FileLoad, why: string, cause?: unknown): MediaError {
  const message = `The ${name} could not be loaded (${nameOf(url)}: ${why}).`;
  return new MediaError("encoder_unavailable", message, { cause, retryable: true });
}

function wrong({ url, name = CORE }: FileLoad, why: string, cause?: unknown): MediaError {
  const message = `The ${name} is not the expected file (${nameOf(url)}: ${why}).`;
  return new MediaError("encoder_unavailable", message, { cause });
}

// The rest of a URL may contain a secret.
function nameOf(url: string | URL): string {
  const path = String(url).replace(/[?#].*$/, "");
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Returns a cached file, or null when it is not cached or the page has no cache. */
async function findCached(name: string | null, url: string | URL): Promise<Response | null> {
  if (name === null) return null;
  try {
    return (await (await caches.open(name)).match(String(url))) ?? null;
  } catch {
    return null;
  }
}

/** Caches a file for the next visit; does nothing when the page has no cache or no room in it. */
async function keepCached(name: string | null, url: string | URL, file: Response): Promise<void> {
  if (name === null) return;
  try {
    const cache = await caches.open(name);
    await cache.put(String(url), file);
  } catch {
    // The next visit downloads it again.
  }
}
