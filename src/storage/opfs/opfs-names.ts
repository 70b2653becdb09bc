import type { StoredInfo } from "../../core/ports.ts";
import { toHex } from "../../util/bytes.ts";

// Names may have 255 characters; longer segments of a key span several folders.
const LONGEST = 200;

/**
 * The first character of a name marks the type of folder: a folder of keys, an object with its versions, or a piece of a
 * long name.
 */
export const MARK = { folder: "+", object: "=", piece: "~" } as const;

/** Encodes a key in characters that every file system supports and distinguishes; prefixes stay prefixes. */
export function encodeKey(key: string): string {
  const bytes = new TextEncoder().encode(key);
  return Array.from(bytes, (byte) => {
    const letter = String.fromCharCode(byte);
    return /[a-z0-9._/-]/.test(letter) ? letter : `%${toHex([byte])}`;
  }).join("");
}

/** Decodes a key from {@link encodeKey}. */
export function decodeKey(encoded: string): string {
  return decodeURIComponent(encoded);
}

/** Returns the folders that lead to an object, including its own. */
export function foldersOf(key: string): string[] {
  const parts = encodeKey(key).split("/");
  return parts.flatMap((part, n) => {
    const pieces = part.match(new RegExp(`.{1,${LONGEST}}`, "g")) ?? [""];
    const last = n === parts.length - 1 ? MARK.object : MARK.folder;
    return pieces.map((piece, m) => (m === pieces.length - 1 ? last : MARK.piece) + piece);
  });
}

/** A version of an object: a file whose name holds the metadata, so that it all appears atomically. */
export interface Version extends StoredInfo {
  /** Counts from 1; the highest is current. */
  number: number;
}

/** Returns the name of a version's file; later versions sort after earlier ones. */
export function versionName({ number, size, etag, mime }: Version): string {
  return [String(number).padStart(12, "0"), size, etag, encodeKey(mime).replaceAll("/", "%2f")].join("~");
}

export function parseVersion(name: string): Version | null {
  const match = /^(\d{12})~(\d+)~([^~]+)~([^~]*)$/.exec(name);
  if (!match) return null;
  const [, number, size, etag = "", mime = ""] = match;
  return { number: Number(number), size: Number(size), etag, mime: decodeKey(mime) };
}
