import { KIB } from "../../util/bytes.ts";
import { createByteSource } from "../http/byte-source.ts";

/** One part of a stream; `last` when nothing follows, and then it may be short or empty. */
export interface Part {
  bytes: Uint8Array<ArrayBuffer>;
  last: boolean;
}

/** Cuts a stream into parts of the same size. */
export interface PartReader {
  /** Gives the next part; rejects with the stream's own error. */
  next(): Promise<Part>;
  /** Gives back the memory of a part that is done with, for one to come. */
  recycle(bytes: Uint8Array): void;
  /** Lets go of the stream. */
  cancel(reason: unknown): Promise<void>;
}

const SCRATCH_BYTES = 256 * KIB;

/** Builds a {@link PartReader} that makes parts of `size` bytes, whatever the pieces are that the stream comes in. */
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
