import type { ByteReader } from "../core/ports.ts";
import { OutOfBounds } from "./bounded-reader.ts";

/** The start of a file that describes all of it, so that mediabunny need not see more. */
export interface FileStart {
  /** A file in its own right, with the headers and first packets. */
  reader: ByteReader;
  /** Whether it is known that no packet was left out. */
  whole: boolean;
  /** Bytes of all packets in the file, including those left out. */
  body: number;
  /** Frames per second by track id, where headers state them. */
  fps: ReadonlyMap<number, number>;
  /** End of a track's last frame in seconds by track id, where headers state it; on the packets' clock. */
  ends: ReadonlyMap<number, number>;
  /** Whether the first packets of sound are representative of the bitrate; `unknown` when nothing states it, nor the duration. */
  bitrate: "constant" | "variable" | "unknown";
}

/** Returns a file in memory that consists of consecutive parts. */
export function memoryReader(parts: readonly Uint8Array[]): ByteReader {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { size: bytes.length, read: async ({ start, end }) => bytes.slice(start, end) };
}

/** Returns a file that is not read beyond `limit`: a read across it gets zeros there, and one beyond it throws OutOfBounds. */
export function limitReader(reader: ByteReader, limit: number): ByteReader {
  return {
    size: reader.size,
    async read({ start, end }, signal) {
      if (start >= limit) throw new OutOfBounds("The start of the file is not enough.");
      if (end <= limit) return reader.read({ start, end }, signal);
      const bytes = new Uint8Array(Math.min(end, reader.size) - start);
      bytes.set(await reader.read({ start, end: limit }, signal));
      return bytes;
    },
  };
}
