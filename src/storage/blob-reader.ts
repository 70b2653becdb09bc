import { MediaError } from "../core/errors.ts";
import type { ByteReader } from "../core/ports.ts";
import { KIB, sha256Hex } from "../util/bytes.ts";

/** Random access to a file in the page; a worker can receive the file without a copy. */
export interface BlobReader extends ByteReader {
  readonly blob: Blob;
}

/** Identifies a file by its properties and a sample of its bytes. */
export interface Fingerprint {
  size: number;
  /** Milliseconds since the Unix epoch; null for a blob that is not a file. */
  last_modified: number | null;
  /** SHA-256 of the first, middle and last 64 KB, in hex. */
  sha256: string;
}

const PROOF_BYTES = 64 * KIB;

/**
 * Opens a blob or file for random access without keeping any of it in memory. A read rejects with `input_unreachable`, not
 * retryable, when the file was changed, moved or deleted after the page got it.
 */
export function createBlobReader(blob: Blob): BlobReader {
  const { size } = blob;
  return {
    blob,
    size,
    async read({ start, end }, signal) {
      signal?.throwIfAborted();
      const [from, to] = [Math.min(start, size), Math.min(Math.max(start, end), size)];
      // A deleted file may look empty; only reading it shows the difference.
      const bytes = await readBlob(blob, size === 0 ? blob : blob.slice(from, to));
      signal?.throwIfAborted();
      if (bytes.length !== to - from) throw unreadable(blob);
      return bytes;
    },
  };
}

/** Computes the fingerprint of a file of any size within milliseconds. Rejects as a read of {@link createBlobReader} does. */
export async function fingerprintOf(blob: Blob): Promise<Fingerprint> {
  const reader = createBlobReader(blob);
  const { size } = reader;
  const starts = [0, Math.floor((size - PROOF_BYTES) / 2), size - PROOF_BYTES].map((start) =>
    Math.max(0, start),
  );
  const parts = await Promise.all(starts.map((start) => reader.read({ start, end: start + PROOF_BYTES })));
  const proof = await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer();
  const sha256 = await sha256Hex(proof);
  return { size, last_modified: blob instanceof File ? blob.lastModified : null, sha256 };
}

async function readBlob(whole: Blob, part: Blob): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await part.arrayBuffer());
  } catch (cause) {
    throw unreadable(whole, cause);
  }
}

function unreadable(blob: Blob, cause?: unknown): MediaError {
  const name = blob instanceof File ? `The file ${blob.name}` : "The file";
  const message = `${name} can no longer be read: it was changed, moved or deleted after it was chosen. Choose it again.`;
  return new MediaError("input_unreachable", message, { cause, retryable: false });
}
