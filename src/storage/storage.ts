import * as errors from "./errors.ts";

/** Reads a small stream into one array. */
export async function readAll(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(body).arrayBuffer());
}

/** Reads an untrusted stream into one array; stops and rejects with a RangeError after `maxBytes` bytes. */
export function readSome(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  let read = 0;
  const limited = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      read += bytes.length;
      if (read > maxBytes) throw errors.tooManyBytes({ maxBytes });
      controller.enqueue(bytes);
    },
  });
  return readAll(body.pipeThrough(limited, { ...(signal && { signal }) }));
}

export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes);
      controller.close();
    },
  });
}

/** Returns an encoded file's metadata or bytes from storage; throws `encode_failed`, or `upload_failed`, when they are missing. */
export function requireEncoded<T>(stored: T | null, step: "encode" | "upload" = "encode"): T {
  if (stored === null) throw errors.encodedFileGone(step);
  return stored;
}

/** Throws on an empty prefix, so that a bug elsewhere cannot clear the whole storage. */
export function requirePrefix(prefix: string): void {
  if (!prefix) throw errors.prefixEmpty();
}
