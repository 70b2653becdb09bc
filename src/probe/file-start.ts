import type { ByteReader } from "../core/ports.ts";
import { OutOfBounds } from "./bounded-reader.ts";

/** The start of a file that tells of all of it, so that mediabunny need not be given more. */
export interface FileStart {
  /** A file of its own, with the headers and the first packets. */
  reader: ByteReader;
  /** True when it is known that no packet was left out. */
  whole: boolean;
  /** Bytes that the file has for packets, those left out too. */
  body: number;
  /** Frames a second by track id, where headers tell. */
  fps: ReadonlyMap<number, number>;
  /** Second at which the last frame of a track ends by track id, where headers tell; counted as the packets are. */
  ends: ReadonlyMap<number, number>;
  /** Whether the first packets of sound have the bitrate of all; `unknown` when nothing tells it, nor the duration. */
  bitrate: "constant" | "variable" | "unknown";
}

/** A file in memory, made of parts one after another. */
export function memoryReader(parts: readonly Uint8Array[]): ByteReader {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { size: bytes.length, read: async ({ start, end }) => bytes.slice(start, end) };
}

/** A file of which nothing from `limit` on is read: a read across it gives zeros there, and one beyond it throws OutOfBounds. */
export function limitReader(reader: ByteReader, limit: number): ByteReader {
  return {
    size: reader.size,
    async read({ start, end }, signal) {
      if (start >= limit) throw new OutOfBounds("The start of the file was to be enough.");
      if (end <= limit) return reader.read({ start, end }, signal);
      const bytes = new Uint8Array(Math.min(end, reader.size) - start);
      bytes.set(await reader.read({ start, end: limit }, signal));
      return bytes;
    },
  };
}
