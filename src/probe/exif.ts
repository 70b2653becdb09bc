import type { ByteReader } from "../runs/ports.ts";
import { readOr, viewOf } from "../util/bytes.ts";

/** The orientation that a picture's EXIF data states. */
export interface Orientation {
  /** The orientation, from 1 to 8 (EXIF 2.32, tag 274). */
  value: number;
  /** Offset of its two bytes. */
  at: number;
  /** Whether they are little-endian. */
  little: boolean;
}

const TAG = 274;
const TYPES = { short: 3, long: 4 } as const;
const DIRECTORY = 65_536;
const REACH = 262_144;

/**
 * Reads the EXIF orientation of a JPEG, a PNG (eXIf), a WebP (EXIF, with or without the prefix `Exif\0\0`) or a TIFF; null for any other
 * file, and when none is stated. Rejects as the reader does.
 */
export async function readOrientation(reader: ByteReader, signal: AbortSignal): Promise<Orientation | null> {
  const head = await reader.read({ start: 0, end: REACH }, signal);
  if (startsTiff(head, 0)) return readTiff(reader, viewOf(head), signal);
  const name = nameOf(head);
  if (name === null) return null;
  const start = Math.max(0, reader.size - REACH);
  const tail = start === 0 ? head : await reader.read({ start, end: reader.size }, signal);
  return findChunk(head, 0, name) ?? findChunk(tail, start, name);
}

/** Finds the orientation in EXIF data, which is laid out as a TIFF; null when it is absent or damaged. */
export function findOrientation(exif: DataView): Orientation | null {
  return readOr(null, () => {
    const little = exif.getUint16(0) === LITTLE;
    return findEntry(exif, exif.getUint32(4, little), little);
  });
}

const LITTLE = 0x4949;

async function readTiff(
  reader: ByteReader,
  head: DataView,
  signal: AbortSignal,
): Promise<Orientation | null> {
  if (head.byteLength < 8) return null;
  const little = head.getUint16(0) === LITTLE;
  const start = head.getUint32(4, little);
  const directory = viewOf(await reader.read({ start, end: start + DIRECTORY }, signal));
  const entry = readOr(null, () => findEntry(directory, 0, little));
  return entry && { ...entry, at: start + entry.at };
}

// TIFF 6.0, section 2: a count, and entries of 12 bytes, whose value is left-aligned.
function findEntry(view: DataView, directory: number, little: boolean): Orientation | null {
  const count = view.getUint16(directory, little);
  for (let index = 0; index < count; index++) {
    const entry = directory + 2 + 12 * index;
    if (view.getUint16(entry, little) !== TAG) continue;
    const type = view.getUint16(entry + 2, little);
    const at = entry + (type === TYPES.long && !little ? 10 : 8);
    const value = view.getUint16(at, little);
    return value >= 1 && value <= 8 ? { value, at, little } : null;
  }
  return null;
}

const NAMES = { "Exif\0\0": 6, eXIf: 4, EXIF: 8 } as const;

function nameOf(head: Uint8Array): keyof typeof NAMES | null {
  if (isText(head, 0, "\u00ff\u00d8")) return "Exif\0\0";
  if (isText(head, 1, "PNG\r\n")) return "eXIf";
  return isText(head, 0, "RIFF") && isText(head, 8, "WEBPVP8X") ? "EXIF" : null;
}

function findChunk(bytes: Uint8Array, start: number, name: keyof typeof NAMES): Orientation | null {
  for (let at = 0; at + 4 <= bytes.length; at++) {
    if (!isText(bytes, at, name)) continue;
    const body = at + NAMES[name];
    const exif = isText(bytes, body, "Exif\0\0") ? body + 6 : body;
    if (!startsTiff(bytes, exif)) continue;
    const orientation = findOrientation(viewOf(bytes.subarray(exif)));
    if (orientation) return { ...orientation, at: start + exif + orientation.at };
  }
  return null;
}

function startsTiff(bytes: Uint8Array, at: number): boolean {
  return isText(bytes, at, "II*\0") || isText(bytes, at, "MM\0*");
}

function isText(bytes: Uint8Array, at: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}
