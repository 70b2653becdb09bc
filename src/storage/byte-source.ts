import { KIB } from "../util/bytes.ts";

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
    const filled = await source.read(scratch.subarray(0, Math.max(1, size - at)));
    if (!filled) return bytes;
    bytes.set(filled, at);
    at += filled.length;
    scratch = new Uint8Array(filled.buffer);
  }
}

/** Wraps a stream as a {@link ByteSource}; copies if the stream cannot fill supplied memory. */
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

/** One part of a stream; the `last` one may be short or empty. */
export interface Part {
  bytes: Uint8Array<ArrayBuffer>;
  last: boolean;
}

/** Cuts a stream into parts of equal size. */
export interface PartReader {
  /** Returns the next part; rejects with the stream's own error. */
  next(): Promise<Part>;
  /** Accepts the memory of a finished part for reuse. */
  recycle(bytes: Uint8Array): void;
  cancel(reason: unknown): Promise<void>;
}

/** Creates a {@link PartReader} with parts of `size` bytes, however the stream is chunked. */
export function createPartReader(body: ReadableStream<Uint8Array>, size: number): PartReader {
  const source = createByteSource(body);
  const free: ArrayBuffer[] = [];
  let scratch = new Uint8Array(CHUNK_BYTES);
  return {
    async next() {
      const part = new Uint8Array(free.pop() ?? new ArrayBuffer(size));
      let filled = 0;
      while (filled < size) {
        const piece = await source.read(scratch.subarray(0, size - filled));
        if (!piece) return { bytes: part.subarray(0, filled), last: true };
        part.set(piece, filled);
        filled += piece.length;
        scratch = new Uint8Array(piece.buffer);
      }
      return { bytes: part, last: false };
    },
    recycle({ buffer }) {
      if (buffer instanceof ArrayBuffer && buffer.byteLength === size) free.push(buffer);
    },
    cancel: (reason) => source.cancel(reason),
  };
}
