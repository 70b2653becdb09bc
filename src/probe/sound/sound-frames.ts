import type { ByteReader } from "../../core/ports.ts";
import { MIB } from "../../util/bytes.ts";
import { FRAMES, type ReadFrame } from "./frame-headers.ts";

// mediabunny (1.61) and ffprobe multiply the file's size by the bitrate of its start; test/probe/sound-frames has files of uneven
// frames whose length is then wrong by a tenth.

export interface SoundLength {
  /** Null when there are too many frames to read. */
  seconds: number | null;
}

/** Files up to this many bytes have their frames counted by a probe: half an hour of sound at 128 kbit/s. */
const COUNTED = 32 * MIB;
// Least share of a file that its frames must make up; less means another type of frame.
const SHARE = 0.5;
const BLOCK = 2 * MIB;
const FIRST = 64;
const TAG_HEADER = 10;

/**
 * Adds up the frames of a raw sound file of at most `most` bytes; null for any other format, and for an MP3 whose first
 * frame states the total. Rejects as the reader does.
 */
export async function measureFrames(
  reader: ByteReader,
  format: string,
  signal: AbortSignal,
  most = COUNTED,
): Promise<SoundLength | null> {
  const readFrame = FRAMES[format];
  if (!readFrame) return null;
  const start = await passTags(reader, signal);
  const head = await reader.read({ start, end: Math.min(reader.size, start + FIRST) }, signal);
  if (/Xing|Info|VBRI/.test(String.fromCharCode(...head))) return null;
  return reader.size - start > most ? { seconds: null } : countAll(reader, start, readFrame, signal);
}

async function countAll(
  reader: ByteReader,
  start: number,
  readFrame: ReadFrame,
  signal: AbortSignal,
): Promise<SoundLength | null> {
  let [seconds, counted] = [0, 0];
  for (let at = start; at < reader.size; ) {
    const end = Math.min(reader.size, at + BLOCK);
    const bytes = await reader.read({ start: at, end }, signal);
    const walked = walk(bytes, readFrame, end === reader.size);
    seconds += walked.seconds;
    counted += walked.counted;
    at += Math.max(1, walked.bytes);
  }
  return counted > (reader.size - start) * SHARE ? { seconds } : null;
}

// Adds up the frames in a stretch of a file; `bytes` is where the next stretch starts.
function walk(bytes: Uint8Array, readFrame: ReadFrame, last: boolean) {
  const sum = { seconds: 0, bytes: 0, counted: 0 };
  let at = 0;
  let synced = false;
  while (at + TAG_HEADER <= bytes.length) {
    const frame = readFrame(bytes, at);
    // A candidate is a frame when another follows; after previous frames, one is enough.
    const next = frame ? at + frame.bytes : 0;
    const follows: boolean =
      frame !== null && (synced || next + TAG_HEADER > bytes.length || readFrame(bytes, next) !== null);
    if (follows && next > bytes.length && !last) break;
    synced = follows && next <= bytes.length;
    if (!frame || !synced) {
      at++;
      continue;
    }
    sum.seconds += frame.seconds;
    sum.counted += frame.bytes;
    at = next;
  }
  sum.bytes = last ? bytes.length : at;
  return sum;
}

/** Returns where a file begins behind its ID3v2 tags (id3.org, 3.1), whose size has four bytes of seven bits and excludes the header. */
export async function passTags(reader: ByteReader, signal?: AbortSignal): Promise<number> {
  for (let at = 0; ; ) {
    const head = await reader.read({ start: at, end: Math.min(reader.size, at + TAG_HEADER) }, signal);
    if (head.length < TAG_HEADER || String.fromCharCode(...head.subarray(0, 3)) !== "ID3") return at;
    at += TAG_HEADER + head.subarray(6, TAG_HEADER).reduce((size, byte) => size * 128 + (byte & 0x7f), 0);
  }
}
