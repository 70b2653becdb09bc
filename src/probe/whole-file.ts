import type { Input } from "mediabunny";
import type { SourceStream } from "../core/source.ts";
import { MIB } from "../util/bytes.ts";
import { withinBounds } from "./bounded-reader.ts";
import type { FileStart } from "./file-start.ts";
import type { Packets } from "./packets.ts";

/** What the averages over a whole file are told from. */
export interface Measures {
  /** Bytes of the whole file. */
  size: number;
  start: FileStart | null;
  /** Tells the seconds of a file by reading it through. */
  measure: () => Promise<number>;
}

// Without an index these can only be measured by reading them through, which is done up to so many bytes.
const MEASURED: Readonly<Record<string, number>> = { aac: MIB, matroska: 16 * MIB, webm: 16 * MIB, flac: 0 };

// How far packets of one bitrate differ on average.
const UNEVEN = 0.02;

/** Tells how many seconds a file without an index lasts: by its headers, else its size or all of it; null when that is too much. */
export async function durationOf(
  input: Input,
  format: string,
  { size, start, measure }: Measures,
  packets: Packets | null,
): Promise<number | null> {
  const told = await withinBounds(() => input.getDurationFromMetadata());
  const rate = packets?.bitrate ?? 0;
  const average = start?.bitrate === "unknown" && rate > 0 ? (start.body * 8) / rate : null;
  if (told && average && Math.abs(average / told - 1) > UNEVEN) return microseconds(average);
  if (told && told > 0) return microseconds(told);
  const measured = size <= (MEASURED[format] ?? size);
  // The frames of ADTS are much the same size all along.
  const guessed = !measured && format === "aac" && rate > 0 ? (size * 8) / rate : null;
  const seconds = measured ? await withinBounds(measure) : guessed;
  return seconds && seconds > 0 ? microseconds(seconds) : null;
}

/** Adds what only the whole file tells of streams whose start alone was read. */
export function completeStreams(
  streams: SourceStream[],
  start: FileStart | null,
  duration: number | null,
): SourceStream[] {
  if (!start || !duration) return streams;
  const timed = start.bitrate === "unknown" ? streams.map((stream) => ({ ...stream, duration })) : streams;
  // What the others leave of all is the bitrate of the one stream whose first packets do not tell it.
  const alone = start.bitrate === "variable" && timed.length === 1;
  const open = timed.filter(({ bitrate }) => alone || bitrate === undefined);
  const told = timed.reduce((sum, stream) => sum + (open.includes(stream) ? 0 : (stream.bitrate ?? 0)), 0);
  const bitrate = Math.round((start.body * 8) / duration - told);
  if (open.length !== 1 || bitrate <= 0) return timed;
  return timed.map((stream) => (open.includes(stream) ? { ...stream, bitrate } : stream));
}

/** Rounds seconds to the nearest microsecond. */
export function microseconds(seconds: number): number {
  return Math.round(seconds * 1e6) / 1e6;
}
