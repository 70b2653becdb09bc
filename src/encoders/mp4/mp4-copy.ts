import { misfit } from "../stitch/packets.ts";
import type { Gatherer } from "../stitch/stitch-gather.ts";
import type { Extent } from "./mp4-track.ts";

/** Reads stretches of files in sequence. */
export interface ExtentReader {
  /** Passes the next `bytes` bytes on. */
  copy(bytes: number, out: Gatherer): Promise<void>;
}

/** Creates an {@link ExtentReader} that reads blocks of `block` bytes and prefetches one. */
export function createExtentReader(
  extents: readonly Extent[],
  block: number,
  signal: AbortSignal | undefined,
): ExtentReader {
  let index = 0;
  let at = extents[0]?.start ?? 0;
  let held: Uint8Array = new Uint8Array(0);
  let coming: Promise<Uint8Array> | null = null;

  function readOn(): Promise<Uint8Array> | null {
    const extent = extents[index];
    if (!extent) return null;
    const range = { start: at, end: Math.min(at + block, extent.end) };
    at = range.end;
    if (at === extent.end) at = extents[++index]?.start ?? 0;
    const read = extent.input.read(range, signal).then((bytes) => {
      if (bytes.length !== range.end - range.start) throw misfit("they are damaged");
      return bytes;
    });
    // A failure surfaces where the block is awaited, if ever.
    read.catch(() => {});
    return read;
  }

  return {
    async copy(bytes, out) {
      for (let left = bytes; left > 0; ) {
        if (held.length === 0) {
          const next = coming ?? readOn();
          if (!next) throw misfit("they are damaged");
          held = await next;
          coming = readOn();
        }
        signal?.throwIfAborted();
        const piece = held.subarray(0, left);
        held = held.subarray(piece.length);
        left -= piece.length;
        await out.add(piece);
      }
    },
  };
}
