import { KIB } from "../../util/bytes.ts";
import { createByteSource } from "../http/byte-source.ts";

/** One part of a stream; with `last`, nothing follows, and it may be short or empty. */
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

const SCRATCH_BYTES = 256 * KIB;

/** Creates a {@link PartReader} with parts of `size` bytes, however the stream is chunked. */
export function createPartReader(body: ReadableStream<Uint8Array>, size: number): PartReader {
  const source = createByteSource(body);
  const free: ArrayBuffer[] = [];
  let scratch = new Uint8Array(SCRATCH_BYTES);
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
