import type { Input } from "mediabunny";
import type { SourceStream } from "../core/source.ts";
import { MIB } from "../util/bytes.ts";
import { withinBounds } from "./bounded-reader.ts";
import type { FileStart } from "./file-start.ts";
import type { Packets } from "./packets.ts";

export interface Measures {
  size: number;
  start: FileStart | null;
  /** Measures the duration in seconds by reading the whole file. */
  measure: () => Promise<number>;
}

// Without an index these can only be measured by reading them completely, which is done up to so many bytes.
const MEASURED: Readonly<Record<string, number>> = { aac: MIB, matroska: 16 * MIB, webm: 16 * MIB, flac: 0 };

// Average deviation between packets of a constant bitrate.
const UNEVEN = 0.02;

/**
 * Returns the duration in seconds of a file without an index: from its headers, else its size or all of it; null when that
 * takes too many reads.
 */
export async function durationOf(
  input: Input,
  format: string,
  { size, start, measure }: Measures,
  packets: Packets | null,
): Promise<number | null> {
  const stated = await withinBounds(() => input.getDurationFromMetadata());
  const rate = packets?.bitrate ?? 0;
  const average = start?.bitrate === "unknown" && rate > 0 ? (start.body * 8) / rate : null;
  if (stated && average && Math.abs(average / stated - 1) > UNEVEN) return microseconds(average);
  if (stated && stated > 0) return microseconds(stated);
  const measured = size <= (MEASURED[format] ?? size);
  // ADTS frames are of similar size throughout.
  const guessed = !measured && format === "aac" && rate > 0 ? (size * 8) / rate : null;
  const seconds = measured ? await withinBounds(measure) : guessed;
  return seconds && seconds > 0 ? microseconds(seconds) : null;
}

/** Adds what only the whole file shows about streams that were read from their start alone. */
export function completeStreams(
  streams: SourceStream[],
  start: FileStart | null,
  duration: number | null,
): SourceStream[] {
  if (!start || !duration) return streams;
  const timed = start.bitrate === "unknown" ? streams.map((stream) => ({ ...stream, duration })) : streams;
  // The total minus the other streams is the bitrate of the one whose first packets do not show it.
  const alone = start.bitrate === "variable" && timed.length === 1;
  const open = timed.filter(({ bitrate }) => alone || bitrate === undefined);
  const known = timed.reduce((sum, stream) => sum + (open.includes(stream) ? 0 : (stream.bitrate ?? 0)), 0);
  const bitrate = Math.round((start.body * 8) / duration - known);
  if (open.length !== 1 || bitrate <= 0) return timed;
  return timed.map((stream) => (open.includes(stream) ? { ...stream, bitrate } : stream));
}

export function microseconds(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
