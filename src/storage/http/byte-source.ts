import { KIB } from "../../util/bytes.ts";

/** The bytes of a stream, read into memory that the reader supplies, so that a long stream leaves no garbage. */
export interface ByteSource {
  /**
   * Fills the view from its start with the next bytes, at least one. The view is detached and comes back as the filled part;
   * null at the end.
   */
  read(view: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer> | null>;
  cancel(reason?: unknown): Promise<void>;
}

const CHUNK_BYTES = 256 * KIB;

/** Turns a source into a byte stream that reads on demand; readers may supply their own memory. */
export function toStream(source: ByteSource): ReadableStream<Uint8Array> {
  let scratch = new Uint8Array(CHUNK_BYTES);
  return new ReadableStream({
    type: "bytes",
    autoAllocateChunkSize: CHUNK_BYTES,
    async pull(controller) {
      const request = controller.byobRequest;
      const view = request?.view;
      if (!request || !view) return;
      const target = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      const filled = await source.read(scratch.subarray(0, target.length));
      if (filled) {
        target.set(filled);
        scratch = new Uint8Array(filled.buffer);
        return request.respond(filled.length);
      }
      controller.close();
      request.respond(0);
    },
    cancel: (reason) => source.cancel(reason),
  });
}

/** Reads a source of exactly `size` bytes to its end. */
export async function readSource(source: ByteSource, size: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(size);
  let scratch = new Uint8Array(Math.min(size, CHUNK_BYTES));
  for (let at = 0; ; ) {
    // Requests one byte more at the end, to detect a longer source.
    const filled = await source.read(scratch.subarray(0, Math.max(1, size - at)));
    if (!filled) return bytes;
    bytes.set(filled, at);
    at += filled.length;
    scratch = new Uint8Array(filled.buffer);
  }
}

/** Opens a stream for reading; copies from one that cannot fill supplied memory. */
export function createByteSource(body: ReadableStream<Uint8Array>): ByteSource {
  const reader = openByob(body);
  if (!reader) return createCopyingSource(body.getReader());
  return {
    async read(view) {
      const { done, value } = await reader.read(view);
      return done || !value ? null : value;
    },
    cancel: (reason) => reader.cancel(reason).catch(() => {}),
  };
}

function openByob(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}

function createCopyingSource(reader: ReadableStreamDefaultReader<Uint8Array>): ByteSource {
  let rest = new Uint8Array(0) as Uint8Array;
  return {
    async read(view) {
      while (rest.length === 0) {
        const { done, value } = await reader.read();
        if (done) return null;
        rest = value;
      }
      const piece = rest.subarray(0, view.length);
      rest = rest.subarray(piece.length);
      view.set(piece);
      return view.subarray(0, piece.length);
    },
    cancel: (reason) => reader.cancel(reason).catch(() => {}),
  };
}
