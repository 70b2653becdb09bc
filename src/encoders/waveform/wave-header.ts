import { viewOf } from "../../util/bytes.ts";

/** The format and the place of the samples in a WAV. */
export interface WaveFormat {
  channels: number;
  /** Hertz. */
  sample_rate: number;
  /** Offset of the first sample. */
  start: number;
}

const RIFF_HEADER = 12;
const CHUNK_HEADER = 8;
const FMT = 0x666d7420;
const DATA = 0x64617461;

/**
 * Reads a WAV or RF64 up to its first sample; null until there are enough bytes. Ignores the sizes, which are unknown while the file is
 * still being written.
 */
export function readWaveHeader(bytes: Uint8Array): WaveFormat | null {
  const view = viewOf(bytes);
  let format: Omit<WaveFormat, "start"> | null = null;
  for (let at = RIFF_HEADER; at + CHUNK_HEADER <= bytes.length; ) {
    const name = view.getUint32(at);
    const body = at + CHUNK_HEADER;
    if (name === DATA) return format && { ...format, start: body };
    const size = view.getUint32(at + 4, true);
    if (body + size > bytes.length) return null;
    if (name === FMT) {
      format = { channels: view.getUint16(body + 2, true), sample_rate: view.getUint32(body + 4, true) };
    }
    at = body + size + (size % 2);
  }
  return null;
}
