import { MediaError } from "../media/errors.ts";

/** Reads a stream into one array; meant for small ones. */
export async function readAll(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Response(body).arrayBuffer());
}

/** Reads a stream that anyone may have sent; rejects with a RangeError, and reads no further, where it has more than `most` bytes. */
export function readSome(
  body: ReadableStream<Uint8Array>,
  most: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  let read = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      read += bytes.length;
      if (read > most) throw new RangeError(`There are more than ${most} bytes.`);
      controller.enqueue(bytes);
    },
  });
  return readAll(body.pipeThrough(counted, { ...(signal && { signal }) }));
}

export function streamOf(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes);
      controller.close();
    },
  });
}

/** Returns what storage holds of an encoded file: its metadata or its bytes. Throws an error of the kind when it holds nothing. */
export function requireEncoded<T>(
  found: T | null,
  kind: "encode_failed" | "upload_failed" = "encode_failed",
): T {
  if (found === null) throw new MediaError(kind, "The encoded file is no longer in storage.");
  return found;
}

/** Throws on an empty prefix, with which a fault elsewhere would clear the whole storage. */
export function requirePrefix(prefix: string): void {
  if (!prefix) throw new Error("Storage is not cleared without a prefix.");
}
