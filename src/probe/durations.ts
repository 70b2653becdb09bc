import { EncodedPacketSink, type Input, type InputTrack } from "mediabunny";
import { roundTime } from "../media/clock.ts";
import { containerOf } from "../media/containers.ts";
import type { Source, SourceStream } from "../media/source.ts";
import type { TrackIndex } from "./mp4-boxes.ts";
import { type FileStart, withinBounds } from "./reader.ts";

export interface Measures {
  size: number;
  start: FileStart | null;
  /** Measures the duration in seconds by reading the whole file. */
  measure: () => Promise<number>;
}

const TOLERANCE = 0.02;

/**
 * Returns the duration in seconds of a file without an index: from its headers, otherwise from its size or by reading it all;
 * null when that takes too many reads.
 */
export async function durationOf(
  input: Input,
  format: string,
  { size, start, measure }: Measures,
  packets: Packets | null,
): Promise<number | null> {
  const { max_measured, even_sizes } = containerOf({ format });
  const duration = await statedDuration(input, format, { start, measure });
  const rate = packets?.bitrate ?? 0;
  const average = start?.bitrate === "unknown" && rate > 0 ? (start.body * 8) / rate : null;
  if (duration && average && Math.abs(average / duration - 1) > TOLERANCE) return roundTime(average);
  if (duration && duration > 0) return roundTime(duration);
  const measured = size <= max_measured;
  const estimate = !measured && even_sizes && rate > 0 ? (size * 8) / rate : null;
  const seconds = measured ? await withinBounds(measure) : estimate;
  return seconds && seconds > 0 ? roundTime(seconds) : null;
}

const LATE = 0.5;

// Matroska's duration is that of its packets; ffmpeg writes the end of the last one instead.
async function statedDuration(
  input: Input,
  format: string,
  { start, measure }: Pick<Measures, "start" | "measure">,
): Promise<number | null> {
  const duration = await withinBounds(() => input.getDurationFromMetadata());
  const origin = containerOf({ format }).zero_based ? await input.getFirstTimestamp() : 0;
  if (!duration || origin < LATE) return duration;
  const ends = [...(start?.ends.values() ?? [])];
  const end = ends.length > 0 ? Math.max(...ends) : ((await withinBounds(measure)) ?? origin + duration);
  return end > origin ? end - origin : duration;
}

/** The length of a file, from its packets. */
export interface PacketLength {
  /** Seconds from the start of the first packet to the end of the last; null when only `truncated` is known. */
  seconds: number | null;
  /** Whether the file ends within a packet. */
  truncated: boolean;
  /** Whether its clock restarts midway, as in a file joined from several. */
  restarted?: true;
  /** Whether the length is an estimate. */
  estimated?: true;
  /** Whether the sample rate or the channels of the sound change midway. */
  changes?: true;
  /** Whether the length is exact to the sample, so that even a small difference contradicts the headers. */
  exact?: true;
}

const MAX_EXCESS = 1;
const PLAYS: ReadonlySet<SourceStream["kind"]> = new Set(["video", "audio"]);

/** Limits stated durations to the end of the last packets of a source; headers state an unknown one as all bits set. */
export function boundDurations(source: Source): Source {
  const { streams = [], duration, filesize } = source;
  const playing = streams.filter(({ kind }) => PLAYS.has(kind));
  const ends = playing.flatMap(({ end }) => end ?? []);
  if (duration === undefined) return source;
  const last = ends.length > 0 ? Math.max(...ends) : duration;
  // A stream of unknown end may be the longest.
  const excess = ends.length === playing.length ? MAX_EXCESS : MAX_EXCESS + last;
  const bound = (stated: number, end: number) => (stated > end + excess ? end : stated);
  const bounded = bound(duration, last);
  return {
    ...source,
    ...(bounded !== duration && { duration: bounded }),
    ...(bounded !== duration && filesize && { bitrate: Math.round((filesize * 8) / bounded) }),
    streams: streams.map((stream) =>
      stream.duration === undefined
        ? stream
        : { ...stream, duration: bound(stream.duration, stream.end ?? last) },
    ),
  };
}

/** Adds the durations of streams read from their start alone if their headers state none. */
export function timeStreams(
  streams: SourceStream[],
  start: FileStart | null,
  duration: number | null,
): SourceStream[] {
  if (start?.bitrate !== "unknown" || !duration) return streams;
  return streams.map((stream) => ({ ...stream, duration }));
}

/** The only stream of unknown bitrate: its bytes are those of the file less those of the other streams. */
export interface RestStream {
  index: number;
  /** Bytes of all packets in the file. */
  body: number;
}

/** Returns the only stream whose bitrate its first packets do not show; null when there are several or none. */
export function restStream(streams: readonly SourceStream[], start: FileStart | null): RestStream | null {
  if (!start) return null;
  const isOnly = start.bitrate === "variable" && streams.length === 1;
  const [stream, ...others] = streams.filter(({ bitrate }) => isOnly || bitrate === undefined);
  return stream && others.length === 0 ? { index: stream.index, body: start.body } : null;
}

/** Sets the bitrate of a {@link RestStream}, which depends on the final duration of its source. */
export function withRest(source: Source, rest: RestStream | null): Source {
  const { streams = [], duration } = source;
  if (!rest || !duration) return source;
  const others = streams.reduce(
    (sum, { index, bitrate = 0 }) => sum + (index === rest.index ? 0 : bitrate),
    0,
  );
  const bitrate = Math.round((rest.body * 8) / duration - others);
  if (bitrate <= 0) return source;
  return {
    ...source,
    streams: streams.map((stream) => (stream.index === rest.index ? { ...stream, bitrate } : stream)),
  };
}

export interface Packets {
  any: boolean;
  /** Packets per second: for video, the average frame rate. */
  rate: number;
  /** Bits per second; 0 when unknown. */
  bitrate: number;
  /** Whether they are proven or declared to be evenly spaced, up to the rounding of a tick. */
  even: boolean;
}

const SAMPLE_PACKETS = 50;
const MAX_REORDER = 8;
// Matroska and Flash Video round times to milliseconds.
const TICK = 0.001;

/**
 * Returns the averages of a track, from its index or otherwise its first packets; null when that takes too many reads or is
 * inconclusive.
 */
export async function countPackets(
  track: InputTrack,
  format: string,
  index: TrackIndex | undefined,
  start: FileStart | null,
): Promise<Packets | null> {
  if (index) {
    const { packets, bytes, seconds, even } = index;
    return { any: packets > 0, rate: ratio(packets, seconds), bitrate: ratio(bytes * 8, seconds), even };
  }
  if (containerOf({ format }).max_measured === 0) return null;
  if (start) return countStart(track, start);
  const stats = await withinBounds(() => track.computePacketStats(SAMPLE_PACKETS));
  if (!stats) return null;
  const { packetCount, averagePacketRate, averageBitrate } = stats;
  return {
    any: packetCount > 0,
    rate: ratio(averagePacketRate, 1),
    bitrate: ratio(averageBitrate, 1),
    even: false,
  };
}

function isSpaced(times: readonly number[], rate: number): boolean {
  const [first = 0] = times;
  return times.length > 1 && times.every((time, at) => Math.abs(time - first - at / rate) <= 1.5 * TICK);
}

async function countStart(track: InputTrack, start: FileStart): Promise<Packets | null> {
  const packets: { time: number; bytes: number }[] = [];
  await withinBounds(async () => {
    for await (const { timestamp, byteLength } of new EncodedPacketSink(track).packets(undefined, undefined, {
      metadataOnly: true,
    })) {
      packets.push({ time: timestamp, bytes: byteLength });
    }
  });
  packets.sort((one, other) => one.time - other.time);
  const sample = start.whole || packets.length <= SAMPLE_PACKETS ? packets : packets.slice(0, -MAX_REORDER);
  const intervals = sample.slice(0, -1);
  const seconds = (sample.at(-1)?.time ?? 0) - (sample[0]?.time ?? 0);
  const bytes = intervals.reduce((sum, packet) => sum + packet.bytes, 0);
  const declared = start.fps.get(track.id);
  const rate = declared ?? ratio(intervals.length, seconds);
  const isProven = declared !== undefined || start.whole;
  const times = (start.whole ? packets : packets.slice(0, -MAX_REORDER)).map(({ time }) => time);
  return {
    any: packets.length > 0,
    rate,
    bitrate: track.type === "audio" ? ratio(bytes * 8, seconds) : 0,
    even: (declared !== undefined && times.length < 2) || (isProven && isSpaced(times, rate)),
  };
}

function ratio(numerator: number, denominator: number): number {
  const value = numerator / denominator;
  return Number.isFinite(value) ? value : 0;
}

/** Formats a time in seconds since 1970 as ffprobe does; null when it is out of range. */
export function timestamp(seconds: number): string | null {
  const date = new Date(Math.round(seconds * 1e6) / 1000);
  if (Number.isNaN(date.getTime())) return null;
  const micros = Math.round(seconds * 1e6) - Math.floor(date.getTime() / 1000) * 1e6;
  return date.toISOString().replace(/\.\d+Z$/, `.${String(micros).padStart(6, "0")}Z`);
}
