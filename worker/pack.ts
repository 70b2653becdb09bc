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

/** Returns the text of a column; `like` is what it was packed with. */
export function unpack(packed: Packed, like: () => string): string {
  if (typeof packed === "string") return packed;
  return new TextDecoder().decode(inflateSync(new Uint8Array(packed), { dictionary: encode(like()) }));
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
