import type { StoredInfo } from "../../core/ports.ts";
import { toHex } from "../../util/hex.ts";

// Names of 255 characters are allowed; a longer part of a key goes over several folders.
const LONGEST = 200;

/** The first letter of a name tells what a folder is: a folder of keys, an object with its versions, or a piece of a long name. */
export const MARK = { folder: "+", object: "=", piece: "~" } as const;

/** Writes a key in letters that every file system has and keeps apart; what starts with a prefix still does. */
export function encodeKey(key: string): string {
  const bytes = new TextEncoder().encode(key);
  return Array.from(bytes, (byte) => {
    const letter = String.fromCharCode(byte);
    return /[a-z0-9._/-]/.test(letter) ? letter : `%${toHex([byte])}`;
  }).join("");
}

/** Gives the key that {@link encodeKey} wrote. */
export function decodeKey(encoded: string): string {
  return decodeURIComponent(encoded);
}

/** Gives the folders that lead to an object, its own included. */
export function foldersOf(key: string): string[] {
  const parts = encodeKey(key).split("/");
  return parts.flatMap((part, n) => {
    const pieces = part.match(new RegExp(`.{1,${LONGEST}}`, "g")) ?? [""];
    const last = n === parts.length - 1 ? MARK.object : MARK.folder;
    return pieces.map((piece, m) => (m === pieces.length - 1 ? last : MARK.piece) + piece);
  });
}

/** A version of an object: its bytes are a file whose name says the rest, so that all of it appears at once. */
export interface Version extends StoredInfo {
  /** Counts from 1; the highest counts. */
  number: number;
}

/** Gives the name of a version's file; later versions sort behind earlier ones. */
export function versionName({ number, size, etag, mime }: Version): string {
  return [String(number).padStart(12, "0"), size, etag, encodeKey(mime).replaceAll("/", "%2f")].join("~");
}

/** Reads the name of a version's file; null when it is none. */
export function parseVersion(name: string): Version | null {
  const match = /^(\d{12})~(\d+)~([^~]+)~([^~]*)$/.exec(name);
  if (!match) return null;
  const [, number, size, etag = "", mime = ""] = match;
  return { number: Number(number), size: Number(size), etag, mime: decodeKey(mime) };
}
