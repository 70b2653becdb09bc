import { deflateSync, inflateSync } from "fflate";

/** A text as a column holds it: as it is, or packed by {@link pack}. */
export type Packed = string | ArrayBuffer;

/**
 * Compresses a text by what it has in common with another: a record of 5 KB that resembles the other takes 300 bytes. SQLite
 * stores it as a blob.
 */
export function pack(text: string, like: string): Uint8Array {
  return deflateSync(encode(text), { level: 6, dictionary: encode(like) });
}

// Where fflate has to grow its own buffer, it takes ten times as long.
const SCRATCH = new Uint8Array(65_536);

/** Returns the text of a column; `like` is what it was packed with. */
export function unpack(packed: Packed, like: () => string): string {
  if (typeof packed === "string") return packed;
  return new TextDecoder().decode(inflate(new Uint8Array(packed), encode(like())));
}

function inflate(bytes: Uint8Array, dictionary: Uint8Array): Uint8Array {
  try {
    const found = inflateSync(bytes, { dictionary, out: SCRATCH });
    if (found.length < SCRATCH.length) return found;
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  // A longer one is cut off there, or begins a block beyond.
  return inflateSync(bytes, { dictionary });
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
