import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";

const PART = 8_388_608;

/** Gives an input as a Blob, which a worker reads by itself: the one behind the reader, or a copy of its bytes, which the browser keeps on disk where they are many. */
export async function blobOf(input: ByteReader, signal: AbortSignal): Promise<Blob> {
  if ("blob" in input && input.blob instanceof Blob) return input.blob;
  const parts: Blob[] = [];
  for (let start = 0; start < input.size; start += PART) {
    const end = Math.min(input.size, start + PART);
    const bytes = await input.read({ start, end }, signal);
    signal.throwIfAborted();
    if (bytes.length !== end - start)
      throw new MediaError("input_unreachable", "The input is shorter than it was said to be.");
    parts.push(new Blob([bytes as Uint8Array<ArrayBuffer>]));
  }
  return new Blob(parts);
}
