/** One part of a stream; `last` when nothing follows, and then it may be short or empty. */
export interface Part {
  bytes: Uint8Array;
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

/** Builds a {@link PartReader} that makes parts of `size` bytes, whatever the pieces are that the stream comes in. */
export function createPartReader(body: ReadableStream<Uint8Array>, size: number): PartReader {
  const reader = body.getReader();
  const free: ArrayBuffer[] = [];
  let rest = new Uint8Array(0) as Uint8Array;
  return {
    async next() {
      const part = new Uint8Array(free.pop() ?? new ArrayBuffer(size));
      let filled = 0;
      while (filled < size) {
        if (rest.length === 0) {
          const { done, value } = await reader.read();
          if (done) return { bytes: part.subarray(0, filled), last: true };
          rest = value;
        }
        const piece = rest.subarray(0, size - filled);
        part.set(piece, filled);
        filled += piece.length;
        rest = rest.subarray(piece.length);
      }
      return { bytes: part, last: false };
    },
    recycle({ buffer }) {
      if (buffer instanceof ArrayBuffer && buffer.byteLength === size) free.push(buffer);
    },
    async cancel(reason) {
      await reader.cancel(reason).catch(() => {});
    },
  };
}
