import { type InputFormat, MATROSKA, MP4 } from "mediabunny";
import { roundTime } from "../media/clock.ts";
import { isVector, pictureFormat } from "../media/containers.ts";
import { MediaError } from "../media/errors.ts";
import { FFMPEG_FPS, isSameFps } from "../media/features/fps.ts";
import { parseFfprobe } from "../media/ffmpeg/ffprobe.ts";
import { mainStream } from "../media/main-tracks.ts";
import type { Source } from "../media/source.ts";
import { readTags, type TagFacts } from "../media/tags.ts";
import type { ByteReader } from "../runs/ports.ts";
import { readColors } from "./color-profile.ts";
import { type Demuxed, demux, readFragmentEnds, type TrackEnds } from "./demux.ts";
import { boundDurations, type PacketLength, withRest } from "./durations.ts";
import * as errors from "./errors.ts";
import { checkTiff, isTiff, readOrientation } from "./exif.ts";
import { readIcon } from "./icon.ts";
import { endsBeforeBlocks, readDisabledTracks, repairClusters } from "./matroska.ts";
import { readChunkId3 } from "./mp3.ts";
import { type MovieIndex, readMovieExtras, readMovieIndex } from "./mp4.ts";
import { cutFragment, type IntactEnds, readFragmentCut, readIntactEnds } from "./mp4-truncation.ts";
import { measurePackets } from "./packet-lengths.ts";
import { checkPicture, checkPixels, checkSides } from "./picture-header.ts";
import { readPictureMetadata } from "./picture-metadata.ts";
import { boundReader, type ProbeBounds } from "./reader.ts";
import { formatsOf, isSvg, readPortableStill, readTga, sniff } from "./sniff.ts";
import { measureFrames } from "./sound-frames.ts";
import { isUnmarkedCmyk, readLargeStill, readStill, type StillReport } from "./still.ts";
import { probeSvg } from "./svg.ts";
import { readTransparency } from "./transparency.ts";
import { checkProgram } from "./transport-stream.ts";

/** The URL and the served type of a file to probe. */
export interface ProbeInput {
  url: string;
  /** Content-Type as served; never decisive, because servers are often wrong. */
  mime?: string;
}

/** Runs ffprobe on a file that mediabunny cannot read by ranges, and returns its JSON report for `parseFfprobe`. */
export type RunFfprobe = (reader: ByteReader, signal: AbortSignal) => Promise<unknown>;

/** Maximum bytes of a Source as JSON: a record contains seven, of inputs and outputs, and must fit into a row of 2 MB. */
export const MAX_SOURCE_BYTES = 98_304;

const READ_BOUNDS: ProbeBounds = { reads: 20_000, blocks: 256, jumps: 64 };

/**
 * Probes a media file by reading ranges of it. Throws `input_unsupported` for a file that is not media or cannot be
 * processed, `probe_failed` when its type cannot be determined, and whatever the reader throws.
 */
export async function probeMedia(
  reader: ByteReader,
  input: ProbeInput,
  ffprobe: RunFfprobe,
  signal: AbortSignal,
): Promise<Source> {
  signal.throwIfAborted();
  const head = await sniff(reader, signal);
  if (isSvg(head)) return checkSource(await probeSvg(reader, input.url, signal));
  const formats = formatsOf(head);
  const icon = await readIcon(reader, head, signal);
  const readable = formats.includes(MATROSKA)
    ? await repairClusters(reader, signal)
    : (icon?.reader ?? reader);
  const { demuxed, ends, fragmented, edits, tags, intactEnds } = await tryDemux(
    readable,
    formats,
    input.url,
    signal,
  );
  if (demuxed) checkSource(demuxed.source);
  const complete = demuxed?.complete && hasPlainSound(demuxed.source) ? demuxed : null;
  const finish = async (source: Source) =>
    withRest(await withExactDuration(source, intactEnds, reader, signal), complete?.rest ?? null);
  if (complete && !complete.implicit) return finish(complete.source);
  const { motion } = await checkPicture(readable, icon ? icon.bytes.subarray(0, head.length) : head, signal);
  const tiff = isTiff(head) ? await checkTiff(readable, signal) : null;
  // ffprobe mistakes a small JPEG for a video if another one, such as a gain map, follows it.
  const readReport = async () =>
    motion
      ? motionReport(await ffprobe(readable, signal))
      : ((await readStill(readable, signal)) ?? ffprobe(readable, signal));
  const portable = readPortableStill(head);
  const still = portable ?? readTga(head);
  const read = await readReport().catch(async (thrown) => {
    signal.throwIfAborted();
    const error = thrown instanceof MediaError ? thrown : errors.notProbed({ cause: thrown });
    // The core that the headers state is playable, but a transient failure must not decide between it and the full sound.
    if (complete && !error.retryable) return null;
    if (still && !error.retryable) return still;
    const lacksMemory = !error.retryable && error.kind !== "input_unsupported";
    const large = lacksMemory ? await readLargeStill(readable, signal) : null;
    if (large) return large;
    const isEarlyCut = !error.retryable && formats.includes(MATROSKA) && (await endsBeforeBlocks(reader));
    throw isEarlyCut ? errors.nothingLeft() : error;
  });
  const isMistaken = portable ? !isSameStill(read, portable) : isGuess(read);
  const report = still && isMistaken ? still : read;
  if (complete && report === null) return finish(complete.source);
  const { soundChanges } = await checkProgram(report, readable, signal);
  const oriented = await withOrientation(report, readable, signal);
  const flagged = formats.includes(MATROSKA)
    ? await withDisabled(oriented, readable, signal)
    : withDepths(oriented, icon?.depths ?? []);
  const parsed = parseFfprobe(flagged, { url: input.url, filesize: reader.size });
  if (complete) return finish(withSound(complete.source, parsed));
  const own = parsed.format === "aiff" ? await tagsOfAiff(readable, signal) : tags;
  const reported = withTags(withEnds(parsed, ends), own);
  const isCmyk = pictureFormat(reported.format).cmyk && reported.pixel_format === "yuva444p";
  const unmarked = isCmyk && (await isUnmarkedCmyk(readable, signal));
  const isMasked = icon?.maskedPictures.has(reported.video_track ?? 0);
  const transparency = isMasked ? MASKED : await readTransparency(reported, readable, signal);
  const colors = reported.kind === "image" ? await colorsOf(reported, readable, signal) : {};
  const source: Source = {
    ...reported,
    ...(fragmented && { fragmented }),
    ...(hasConstantRate(demuxed?.source, reported) && { constant_fps: true as const }),
    ...edits,
    ...(soundChanges && { edited: true as const }),
    ...(tiff?.premultiplied && { premultiplied: true as const }),
    ...colors,
    ...transparency,
    ...(unmarked && { pixel_format: "cmyk" }),
  };
  checkFrames(source, report);
  return finish(checkSource(source));
}

const MASKED = { has_alpha: true, binary_alpha: true } as const;

// Sound or a cover that mediabunny does not know leaves the file to ffprobe, which does not say whether a rate is declared.
function hasConstantRate(demuxed: Source | undefined, { codecs, fps }: Source): boolean {
  if (demuxed?.fps === undefined || fps === undefined || !demuxed.constant_fps) return false;
  return demuxed.codecs?.video === codecs?.video && isSameFps(demuxed.fps, fps);
}

// ffprobe scores a file that matches no signature below a matching file name, at 50.
function isGuess(report: unknown): boolean {
  const { format } = (report ?? {}) as { format?: { probe_score?: unknown } };
  return Number(format?.probe_score) < 50;
}

function isSameStill(report: unknown, { streams: [own] }: StillReport): boolean {
  const { streams } = (report ?? {}) as { streams?: { codec_name?: unknown }[] };
  return streams?.[0]?.codec_name === own?.codec_name;
}

// ffmpeg takes raw Motion JPEG for single pictures.
function motionReport(report: unknown): unknown {
  const { format } = report as { format?: object };
  return { ...(report as object), format: { ...format, format_name: "mjpeg" } };
}

// HDR pictures are tone-mapped by their transfer function, so their profile does not count.
async function colorsOf({ pixel_format = "", color }: Source, reader: ByteReader, signal: AbortSignal) {
  const isGray = /^(gray|ya|mono)/.test(pixel_format);
  const { color_profile, gain_map } = await readColors(reader, { isGray }, signal);
  return {
    ...(color_profile && color?.hdr !== true && { color_profile }),
    ...(gain_map && { gain_map }),
    ...(await readPictureMetadata(reader, signal)),
  };
}

// ffmpeg (5.1) reads neither the orientation of a PNG or TIFF nor that of a WebP whose EXIF data has a prefix.
async function withOrientation(report: unknown, reader: ByteReader, signal: AbortSignal): Promise<unknown> {
  const { format, frames } = report as { format?: { format_name?: unknown }; frames?: unknown };
  const [first = { media_type: "video" }] = Array.isArray(frames) ? frames : [];
  if (!ORIENTED.test(String(format?.format_name)) || first.tags?.Orientation) return report;
  const orientation = await readOrientation(reader, signal);
  if (!orientation) return report;
  const tags = { ...first.tags, Orientation: String(orientation.value) };
  return { ...(report as object), frames: [{ ...first, tags }] };
}

const ORIENTED = /^(tiff|png|webp)_pipe$|^apng$|^image2$/;

// ffmpeg (5.1) ignores that a track of Matroska is disabled.
async function withDisabled(report: unknown, reader: ByteReader, signal: AbortSignal): Promise<unknown> {
  const { streams } = report as { streams?: unknown };
  const disabled = await readDisabledTracks(boundReader(reader, READ_BOUNDS, signal)).catch(() => {
    signal.throwIfAborted();
    return new Set<number>();
  });
  if (disabled.size === 0 || !Array.isArray(streams)) return report;
  const flagged = streams.map((stream) =>
    disabled.has(stream.index) ? { ...stream, disposition: { ...stream.disposition, disabled: 1 } } : stream,
  );
  return { ...(report as object), streams: flagged };
}

// The rewritten pictures of an icon all have 32 bits.
function withDepths(report: unknown, depths: readonly number[]): unknown {
  const { streams } = report as { streams?: unknown };
  if (!Array.isArray(streams) || streams.length !== depths.length) return report;
  const measured = streams.map((stream, index) => ({ ...stream, bits_per_pixel: depths[index] }));
  return { ...(report as object), streams: measured };
}

// Both mediabunny and ffprobe guess their duration from a bitrate.
const ESTIMATED: ReadonlySet<string> = new Set(["ac3", "eac3", "dts", "amr"]);

async function withExactDuration(
  stated: Source,
  intactEnds: IntactEnds | null,
  reader: ByteReader,
  signal: AbortSignal,
): Promise<Source> {
  const bounded = boundDurations(stated);
  if (intactEnds) return withIntactEnds(bounded, intactEnds);
  const packets = await measurePackets(reader, bounded, signal);
  if (packets?.truncated && packets.seconds === 0) throw errors.nothingLeft();
  const length = await measureFrames(reader, bounded.format, signal);
  const changes = (packets?.changes ?? length?.changes) && { edited: true as const };
  const source = { ...(packets ? withPackets(bounded, packets) : bounded), ...changes };
  if (length?.seconds && source.kind === "audio") return withDuration(source, length.seconds);
  const estimated = ESTIMATED.has(source.format) || (length !== null && source.kind === "audio");
  return estimated ? { ...source, duration_estimated: true } : source;
}

function withIntactEnds(source: Source, ends: IntactEnds): Source {
  const { streams = [], codecs, ...facts } = source;
  const cut = streams.map((stream) => {
    const end = ends.get(stream.index);
    return end === undefined ? stream : { ...stream, end, duration: end };
  });
  const bounded = { ...facts, ...(codecs && { codecs }), streams: cut };
  const [pictures, sound] = [mainStream(bounded, "video"), mainStream(bounded, "audio")];
  const played = [pictures, sound].flatMap((stream) => stream?.end ?? stream?.duration ?? []);
  const seconds = roundTime(Math.max(0, ...played));
  if (seconds === 0 || pictures?.end === 0) throw errors.nothingLeft();
  const whole = withPackets(bounded, { seconds, truncated: true, exact: true });
  if (sound?.end !== 0) return whole;
  const { audio: _, ...silent } = whole;
  return { ...silent, ...(codecs && { codecs: { ...codecs, audio: null } }) };
}

// Headers and packets round differently.
const CONTRADICTION = 0.25;

function withPackets(source: Source, length: PacketLength): Source {
  const { seconds, truncated, restarted, estimated, exact } = length;
  const { duration = 0 } = source;
  const facts = {
    ...(truncated && { truncated: true as const }),
    ...(restarted && { restarted }),
    ...(estimated && { duration_estimated: true }),
  };
  const tolerance = exact ? 0 : CONTRADICTION;
  const measured = roundTime(seconds ?? 0);
  // Times that go back, and frames of no bytes, measure nothing.
  const isLength = Number.isFinite(measured) && measured > 0;
  if (seconds === null || !isLength || Math.abs(seconds - duration) <= tolerance)
    return { ...source, ...facts };
  const streams = source.streams?.map(({ end, ...stream }) => {
    const isCredible = end !== undefined && end <= measured + CONTRADICTION;
    const plays = stream.kind === "video" || stream.kind === "audio";
    return {
      ...stream,
      ...(isCredible && { end }),
      ...(plays &&
        stream.duration !== undefined && { duration: Math.min(measured, isCredible ? end : measured) }),
    };
  });
  const bitrate = Math.round(((source.filesize ?? 0) * 8) / measured);
  return { ...source, ...facts, duration: measured, bitrate, ...(streams && { streams }) };
}

/** Replaces an estimated duration with the sum of the file's frames, whatever its size, if they can be counted. */
export async function measureWhole(source: Source, reader: ByteReader, signal: AbortSignal): Promise<Source> {
  const { duration_estimated, ...plain } = source;
  if (!duration_estimated) return source;
  if (source.restarted) {
    const packets = await measurePackets(reader, source, signal, Number.POSITIVE_INFINITY);
    return packets ? withPackets(plain, packets) : source;
  }
  const length = await measureFrames(reader, source.format, signal, Number.POSITIVE_INFINITY);
  return length?.seconds ? withDuration(plain, length.seconds) : source;
}

function withDuration(source: Source, seconds: number): Source {
  const duration = roundTime(seconds);
  const streams = source.streams?.map((stream) =>
    stream.kind === "audio" ? { ...stream, duration } : stream,
  );
  const bitrate = Math.round(((source.filesize ?? 0) * 8) / duration);
  return { ...source, duration, bitrate, ...(streams ? { streams } : {}) };
}

// ffprobe's end of the last frame is not exact in every file.
function withEnds(source: Source, ends: TrackEnds): Source {
  const { kind, streams } = source;
  if (kind === "image" || !streams) return source;
  return {
    ...source,
    streams: streams.map((stream) => {
      const plays = stream.kind === "video" || stream.kind === "audio";
      const end = plays ? ends.get(stream.index) : undefined;
      return end === undefined ? stream : { ...stream, end };
    }),
  };
}

// ffprobe (5.1) reports one value of a tag.
function withTags(source: Source, { tags, tag_values, long_tags }: SourceTags): Source {
  if (source.kind === "image" || (!tags && !long_tags)) return source;
  return {
    ...source,
    ...(tags && { tags: { ...source.tags, ...tags } }),
    ...(tag_values && { tag_values: { ...source.tag_values, ...tag_values } }),
    ...(long_tags && { long_tags }),
  };
}

async function tagsOfAiff(reader: ByteReader, signal: AbortSignal): Promise<TagFacts> {
  const bounded = boundReader(reader, READ_BOUNDS, signal);
  const failed = () => {
    signal.throwIfAborted();
    return [];
  };
  return readTags(await readChunkId3(bounded).catch(failed));
}

function withSound(source: Source, reported: Source): Source {
  const sounds = ({ streams = [] }: Source) => streams.filter(({ kind }) => kind === "audio");
  const own = mainStream(source, "audio");
  const first = mainStream(reported, "audio");
  const decoded = (at: number) => {
    const stream = sounds(reported).find(({ index }) => index === at);
    const { channels, sample_rate } = (stream === first ? reported.audio : stream) ?? {};
    return channels && sample_rate ? { channels, sample_rate } : null;
  };
  const audio = own && decoded(own.index);
  return {
    ...source,
    ...(audio && { audio: { ...source.audio, ...audio } }),
    streams: source.streams?.map((stream) =>
      stream.channels === undefined ? stream : { ...stream, ...decoded(stream.index) },
    ),
  };
}

function hasPlainSound({ audio }: Source): boolean {
  return audio === undefined || (audio.channels >= 1 && audio.sample_rate >= 1);
}

interface DemuxResult {
  demuxed: Demuxed | null;
  ends: TrackEnds;
  fragmented: boolean;
  edits: Pick<Source, "edited" | "preroll" | "postroll" | "untimed" | "fps" | "constant_fps" | "duration">;
  tags: SourceTags;
  /** The intact ends of the tracks of a truncated MP4 or MOV; null for a complete one. */
  intactEnds: IntactEnds | null;
}

type SourceTags = Pick<Source, keyof TagFacts>;

const NOTHING: DemuxResult = {
  demuxed: null,
  ends: new Map(),
  fragmented: false,
  edits: {},
  tags: {},
  intactEnds: null,
};

function editsOf({ tracks, start, fragmented }: MovieIndex): DemuxResult["edits"] {
  const all = [...tracks.values()];
  const edits = all.map((track) => track.edits);
  if (edits.includes("rate")) throw errors.editRate();
  if (edits.includes("gap")) throw errors.editGap();
  // ISO/IEC 14496-12, 8.6.6: with fragments, whose length is not known in advance, 0 stands for all of them.
  if (edits.includes("empty") && !fragmented) throw errors.editEmpty();
  const preroll = Math.max(0, ...all.map((track) => (track.preroll ? track.hidden : 0)));
  const postroll = Math.max(0, ...all.map((track) => track.postroll));
  // A copy with hidden packets keeps all times, so it would also keep an empty edit before all tracks.
  const isLate = start > 0 && (preroll > 0 || postroll > 0);
  const changes = all.some(({ descriptions }) => descriptions === "several");
  const pictures = all.filter(({ untimed }) => untimed !== null);
  const untimed = pictures.length > 0 && pictures.every((track) => track.untimed);
  return {
    ...(untimed && {
      untimed,
      fps: FFMPEG_FPS,
      constant_fps: true as const,
      duration: roundTime(Math.max(...all.map(({ visibleSeconds }) => visibleSeconds))),
    }),
    ...((edits.includes("parts") || isLate || changes || untimed) && { edited: true as const }),
    ...(preroll > 0 && { preroll: roundTime(preroll) }),
    ...(postroll > 0 && { postroll: roundTime(postroll) }),
  };
}

async function tryDemux(
  reader: ByteReader,
  formats: InputFormat[],
  url: string,
  signal: AbortSignal,
): Promise<DemuxResult> {
  if (formats.length === 0) return NOTHING;
  const bounded = boundReader(reader, READ_BOUNDS, signal);
  const result = (demuxed: Demuxed | null): DemuxResult => ({
    ...NOTHING,
    demuxed,
    ends: endsOf(demuxed?.source),
    tags: demuxed?.source ?? {},
  });
  try {
    if (!formats.includes(MP4)) return result(await demux(bounded, formats, null, url));
    const index = await readMovieIndex(bounded);
    if (!index || [...index.tracks.values()].some(({ consistent }) => !consistent)) return NOTHING;
    const all = [...index.tracks.values()];
    if (!index.timed || all.some(({ timed }) => !timed)) throw errors.ticksUnknown();
    if (all.some(({ descriptions }) => descriptions === "encrypted")) throw errors.encrypted();
    if (all.some(({ descriptions }) => descriptions === "codecs")) throw errors.codecChanges();
    const edits = editsOf(index);
    const indexed = boundReader(index.reader, READ_BOUNDS, signal);
    if (index.fragmented) {
      const cut = await cutFragment(indexed, signal);
      const whole = cut === null ? indexed : { ...indexed, size: cut };
      const ends = await readFragmentEnds(index, formats, whole);
      const tags = readTags(readMovieExtras(index).tags);
      const intactEnds =
        cut === null || ends.size === 0 ? null : await readFragmentCut(index, ends, indexed, cut);
      return { demuxed: null, ends, fragmented: true, edits, tags, intactEnds };
    }
    const demuxed = await demux(indexed, formats, index, url);
    const facts: Pick<DemuxResult, "edits" | "intactEnds"> = {
      edits,
      intactEnds: readIntactEnds(index, reader.size),
    };
    if (!demuxed) return { ...result(null), ...facts };
    // mediabunny reads the last sample description, ffprobe the first.
    if (all.some(({ descriptions }) => descriptions !== "one"))
      return { ...result(demuxed), demuxed: null, ...facts };
    return { ...result({ ...demuxed, source: { ...demuxed.source, ...edits } }), ...facts };
  } catch (thrown) {
    signal.throwIfAborted();
    bounded.throwFailure();
    if (thrown instanceof MediaError) throw thrown;
    return NOTHING;
  }
}

function endsOf(source: Source | undefined): TrackEnds {
  const streams = source?.streams ?? [];
  return new Map(streams.flatMap(({ index, end }) => (end === undefined ? [] : [[index, end]])));
}

/** Throws `input_unsupported` for sound or moving pictures without any frame in ffprobe's report. */
function checkFrames(source: Source, report: unknown): void {
  const { frames } = report as { frames?: unknown };
  const none = Array.isArray(frames) && frames.length === 0;
  if (none && source.kind !== "image" && source.duration === undefined) throw errors.emptyStreams();
}

/** Throws `input_unsupported` when the Source is too large for a record, or its pictures for any encoder. */
function checkSource(source: Source): Source {
  const bytes = new TextEncoder().encode(JSON.stringify(source)).length;
  if (bytes > MAX_SOURCE_BYTES) throw errors.largeList({ bytes, maxBytes: MAX_SOURCE_BYTES });
  if (source.codecs?.video == null) return source;
  const { width = 0, height = 0, coded_width = width, coded_height = height } = source;
  for (const size of [
    { width, height },
    { width: coded_width, height: coded_height },
  ]) {
    if (isVector(source)) checkSides(size);
    else checkPixels(size);
  }
  return source;
}
