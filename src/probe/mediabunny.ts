import {
  ALL_FORMATS,
  CustomSource,
  Input,
  type InputAudioTrack,
  type InputFormat,
  type InputVideoTrack,
  MPEG_TS,
} from "mediabunny";
import { containerOf, isIsobmff } from "../media/containers.ts";
import { mainStream } from "../media/main-tracks.ts";
import type { Source } from "../media/source.ts";
import type { ByteReader } from "../runs/ports.ts";
import { repairMatroska } from "./matroska.ts";
import { readMovieIndex } from "./mp4.ts";
import { boundReader } from "./reader.ts";

// mediabunny reads a few times per packet; a million packets are six hours of sound.
const MAX_READS = 2_000_000;

/**
 * Prepares an untrusted source for mediabunny, which can loop forever over a damaged one: bounds its reads, and returns null for
 * an MP4 or MOV with an inconsistent index, or with fragments unless `fragments` is true. Disable mediabunny's cache, so that every read
 * counts.
 */
export async function openSource(
  reader: ByteReader,
  format: string,
  signal: AbortSignal,
  fragments = false,
): Promise<ByteReader | null> {
  const bounds = { reads: MAX_READS, blocks: Number.POSITIVE_INFINITY, jumps: Number.POSITIVE_INFINITY };
  if (!isIsobmff(format)) return boundReader(await repairMatroska(reader, format, signal), bounds, signal);
  const index = await readMovieIndex(reader);
  const isUsable =
    index &&
    (fragments || !index.fragmented) &&
    [...index.tracks.values()].every(({ consistent }) => consistent);
  return isUsable ? boundReader(index.reader, bounds, signal) : null;
}

/**
 * Opens a file in mediabunny without a cache: every read then counts towards the bounds of `reader`, which stop an endless loop over a
 * malformed file. Dispose of the result.
 */
export function openUncached(reader: ByteReader, formats: InputFormat[] = ALL_FORMATS): Input {
  const source = new CustomSource({
    getSize: () => reader.size,
    read: (start, end) => reader.read({ start, end }),
    handleUnhandledError: () => {},
    maxCacheSize: 0,
  });
  return new Input({ source, formats });
}

/**
 * Returns the time of the start of a file on its clock, in seconds: that of its first packet. In all containers but a transport stream,
 * packets before 0 are inaudible or hidden. If the clock of a transport stream is about to wrap, its times start below 0 and pass 0 at
 * the wrap.
 */
export async function startTime(input: Input): Promise<number> {
  const first = await input.getFirstTimestamp();
  return (await input.getFormat()) === MPEG_TS ? first : Math.max(0, first);
}

/** Indexes of the tracks of a source among those of their kind that mediabunny lists. */
export interface TrackPlaces {
  video: number;
  audio: number;
}

/** Returns where mediabunny lists the tracks that a source describes, or another audio track of it. */
export function trackPlaces(source: Source, sound_track = source.sound_track ?? 0): TrackPlaces {
  const place = (kind: "video" | "audio", track: number) => track - hiddenBefore(source, kind, track);
  return { video: place("video", source.video_track ?? 0), audio: place("audio", sound_track) };
}

/** Returns whether mediabunny lists the tracks that a source describes, which may be disabled when there are no others. */
export function listsTracks(source: Source): boolean {
  const isDisabled = (kind: "video" | "audio") => mainStream(source, kind)?.disabled === true;
  return !hidesDisabled(source) || !(isDisabled("video") || isDisabled("audio"));
}

function hidesDisabled(source: Source): boolean {
  return containerOf(source).disabled_tracks === "hidden";
}

function hiddenBefore(source: Source, kind: "video" | "audio", track: number): number {
  const { streams = [] } = source;
  if (!hidesDisabled(source)) return 0;
  const before = streams.filter((stream) => stream.kind === kind).slice(0, track);
  return before.filter(({ disabled }) => disabled).length;
}

/** Returns the video track that a source describes; null when mediabunny does not list it. */
export async function pictureTrack(input: Input, source: Source): Promise<InputVideoTrack | null> {
  return (await input.getVideoTracks())[trackPlaces(source).video] ?? null;
}

/** Returns an audio track of a source, by its index from 0; null when mediabunny does not list it. */
export async function soundTrack(
  input: Input,
  source: Source,
  track?: number,
): Promise<InputAudioTrack | null> {
  return (await input.getAudioTracks())[trackPlaces(source, track).audio] ?? null;
}
