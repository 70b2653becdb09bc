import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";

const PART = 8_388_608;

/**
 * Returns an input as a Blob that a worker can read by itself: the Blob behind the reader, or else a copy, which the browser
 * keeps on disk when it is large.
 */
export async function blobOf(input: ByteReader, signal: AbortSignal): Promise<Blob> {
  if ("blob" in input && input.blob instanceof Blob) return input.blob;
  const parts: Blob[] = [];
  for (let start = 0; start < input.size; start += PART) {
    const end = Math.min(input.size, start + PART);
    const bytes = await input.read({ start, end }, signal);
    signal.throwIfAborted();
    if (bytes.length !== end - start)
      throw new MediaError("input_unreachable", "The input is shorter than its stated size.");
    parts.push(new Blob([bytes as Uint8Array<ArrayBuffer>]));
  }
  return new Blob(parts);
}
