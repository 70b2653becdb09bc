import { type InputFormat, MATROSKA, MP4 } from "mediabunny";
import { MediaError } from "../core/errors.ts";
import type { ByteReader } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { parseFfprobe } from "../ffmpeg/parse-ffprobe.ts";
import { boundReader, type ProbeBounds } from "./bounded-reader.ts";
import { checkFrames, checkSource } from "./check-source.ts";
import { type Demuxed, demux, readFragmentEnds, type TrackEnds } from "./demux.ts";
import { readMovieIndex } from "./isobmff/isobmff.ts";
import { hideDamage } from "./matroska/matroska-damage.ts";
import { formatsOf } from "./signature.ts";
import { sniff } from "./sniff.ts";
import { measureFrames } from "./sound/sound-frames.ts";
import { microseconds } from "./whole-file.ts";

/** What is known of a file before it is looked into. */
export interface ProbeGiven {
  url: string;
  /** Content-Type as served; it decides nothing, as servers are often wrong. */
  mime?: string;
}

/** Runs ffprobe on a file and gives its JSON report, as `parseFfprobe` reads it; for what byte ranges and mediabunny cannot tell. */
export type RunFfprobe = (reader: ByteReader, signal: AbortSignal) => Promise<unknown>;

// 16 MiB in 64 places: several times what any file that is made as usual takes.
const BOUNDS: ProbeBounds = { reads: 20_000, blocks: 256, jumps: 64 };

/**
 * Looks into a media file by reading ranges of it. Throws `input_unsupported` for what is no media or cannot be worked on,
 * `probe_failed` when it cannot be told what it is, and whatever the reader throws.
 */
export async function probeMedia(
  reader: ByteReader,
  given: ProbeGiven,
  ffprobe: RunFfprobe,
  signal: AbortSignal,
): Promise<Source> {
  signal.throwIfAborted();
  const formats = formatsOf(await sniff(reader, signal));
  const readable = formats.includes(MATROSKA) ? await hideDamage(reader, signal) : reader;
  const { demuxed, ends, fragmented } = await tryDemux(readable, formats, given.url, signal);
  if (demuxed) checkSource(demuxed.source);
  if (demuxed?.complete && hasPlainSound(demuxed.source)) return measured(demuxed.source, reader, signal);
  const report = await ffprobe(readable, signal).catch((thrown) => {
    signal.throwIfAborted();
    throw thrown instanceof MediaError
      ? thrown
      : new MediaError("probe_failed", "The file could not be looked into.", { cause: thrown });
  });
  const reported = withEnds(parseFfprobe(report, { url: given.url, filesize: reader.size }), ends);
  const source: Source = fragmented ? { ...reported, fragmented } : reported;
  checkFrames(source, report);
  return measured(checkSource(source), reader, signal);
}

// Guessed from a bitrate, by mediabunny and ffprobe alike.
const GUESSED: ReadonlySet<string> = new Set(["ac3", "eac3", "dts", "amr"]);

async function measured(source: Source, reader: ByteReader, signal: AbortSignal): Promise<Source> {
  const length = await measureFrames(reader, source.format, signal);
  if (length?.seconds && source.kind === "audio") return lastingFor(source, length.seconds);
  const guessed = GUESSED.has(source.format) || (length !== null && source.kind === "audio");
  return guessed ? { ...source, duration_estimated: true } : source;
}

/** Replaces an estimated duration by that of the frames of the whole file, however large, where these can be counted. */
export async function measureWhole(source: Source, reader: ByteReader, signal: AbortSignal): Promise<Source> {
  const { duration_estimated, ...plain } = source;
  if (!duration_estimated) return source;
  const length = await measureFrames(reader, source.format, signal, Number.POSITIVE_INFINITY);
  return length?.seconds ? lastingFor(plain, length.seconds) : source;
}

function lastingFor(source: Source, seconds: number): Source {
  const duration = microseconds(seconds);
  const streams = source.streams?.map((stream) =>
    stream.kind === "audio" ? { ...stream, duration } : stream,
  );
  const bitrate = Math.round(((source.filesize ?? 0) * 8) / duration);
  return { ...source, duration, bitrate, ...(streams ? { streams } : {}) };
}

// ffprobe reports no end of the last frame that is exact in every file.
function withEnds(source: Source, ends: TrackEnds): Source {
  const { kind, streams } = source;
  if (kind === "image" || !streams) return source;
  const first = new Set(["video", "audio"].map((each) => streams.find((stream) => stream.kind === each)));
  return {
    ...source,
    streams: streams.map((stream) => {
      const end = first.has(stream) ? ends.get(stream.kind) : undefined;
      return end === undefined ? stream : { ...stream, end };
    }),
  };
}

// A damaged header may say that there are no channels, or no samples in a second.
function hasPlainSound({ audio }: Source): boolean {
  return audio === undefined || (audio.channels >= 1 && audio.sample_rate >= 1);
}

interface Tried {
  demuxed: Demuxed | null;
  ends: TrackEnds;
  fragmented: boolean;
}

const NOTHING: Tried = { demuxed: null, ends: new Map(), fragmented: false };

// A file that makes mediabunny fail is left to ffprobe; a read that fails ends the probe.
async function tryDemux(
  reader: ByteReader,
  formats: InputFormat[],
  url: string,
  signal: AbortSignal,
): Promise<Tried> {
  if (formats.length === 0) return NOTHING;
  const bounded = boundReader(reader, BOUNDS, signal);
  const tried = (demuxed: Demuxed | null): Tried => ({
    ...NOTHING,
    demuxed,
    ends: endsOf(demuxed?.source),
  });
  try {
    if (!formats.includes(MP4)) return tried(await demux(bounded, formats, null, url));
    const index = await readMovieIndex(bounded);
    if (!index || [...index.tracks.values()].some(({ sound }) => !sound)) return NOTHING;
    const indexed = boundReader(index.reader, BOUNDS, signal);
    if (index.fragmented) {
      return { demuxed: null, ends: await readFragmentEnds(indexed, formats), fragmented: true };
    }
    return tried(await demux(indexed, formats, index, url));
  } catch (thrown) {
    signal.throwIfAborted();
    const failure = bounded.failure();
    if (failure !== undefined) throw failure;
    if (thrown instanceof MediaError) throw thrown;
    return NOTHING;
  }
}

function endsOf(source: Source | undefined): TrackEnds {
  const streams = source?.streams?.toReversed() ?? [];
  return new Map(streams.flatMap(({ kind, end }) => (end === undefined ? [] : [[kind, end]])));
}
