import type { ByteReader } from "../../core/ports.ts";

/** Joins an input and its further files, whose ranges count on from its end. */
export function joinReaders(input: ByteReader, further: readonly ByteReader[]): ByteReader {
  const size = further.reduce((sum, each) => sum + each.size, input.size);
  return {
    size,
    async read(range, signal) {
      if (range.end <= input.size) return input.read(range, signal);
      const parts: Uint8Array<ArrayBuffer>[] = [];
      let base = input.size;
      for (const each of further) {
        const [start, end] = [Math.max(0, range.start - base), Math.min(each.size, range.end - base)];
        if (start < end) parts.push(new Uint8Array(await each.read({ start, end }, signal)));
        base += each.size;
      }
      return new Uint8Array(await new Blob(parts).arrayBuffer());
    },
  };
}
