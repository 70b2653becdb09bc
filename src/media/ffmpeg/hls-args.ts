import { CLOCK, FILL_GAPS } from "../clock.ts";
import type { Filter } from "../feature.ts";
import type { Gain } from "../features/audio-filters-graph.ts";
import { DEFAULT_FPS, isEven } from "../features/fps.ts";
import { sourceForTrack } from "../features/track.ts";
import { videoStream } from "../main-tracks.ts";
import { type Chunk, type Geometry, outputSeconds, outputStart, type Plan, soundFolder } from "../plan.ts";
import type { Source } from "../source.ts";
import {
  firstSegment,
  freezePictures,
  GROUP_SECONDS,
  SEGMENT_SECONDS,
  SLACK,
  shownEnd,
  trackEnd,
} from "../timeline.ts";
import { audioArgs } from "./audio-args.ts";
import { colorArgs } from "./color.ts";
import { AUDIO_MASTER, MASTER } from "./output-files.ts";
import {
  chain,
  lastFrameDuration,
  rateArgs,
  timingArgs,
  type VideoEncode,
  videoCleanup,
  videoColor,
  videoScaling,
} from "./picture-graph.ts";
import { addParams, type Tool, type Toolset, videoTool } from "./toolset.ts";
import { formatSeconds, soundStream, type Trim } from "./trim.ts";

// hls.js ignores edit lists and places segments late by the priming or B-frame delay; it stalls at a last segment shorter than that.
const MIN_SECONDS = 0.5;
// A frame of AAC at 8 kHz lasts this many seconds.
const MAX_PRIMING = 0.128;

// HLS loses a gap before a late start, so silence fills it.
const FILL_FROM_START = `${FILL_GAPS}:first_pts=0`;
// ITU-R BT.1359 calls only larger offsets detectable.
const SAME_START = 0.02;

// ffmpeg rebuilds the graph when the audio changes, and each graph would fill from 0 again. Only the first sees audio this early.
function gapFilters({ sound_from: from }: Chunk): string[] {
  if (from === undefined) return [FILL_FROM_START];
  if (from <= SAME_START) return ["atrim=start=0", FILL_GAPS];
  const isFirst = (frame: string, start: string) =>
    `eq(${frame},0)*lte(${start},${formatSeconds(from + SAME_START)})`;
  return [
    `volume='if(${isFirst("n", "startt")},0,1)':eval=frame`,
    `asetpts='if(${isFirst("N", "STARTT")},0,PTS)'`,
    FILL_GAPS,
  ];
}

/** The output folder of a chunk of adaptive video, and the filters of its pictures and sound. */
interface StreamFiles {
  output: string;
  gain?: Gain | null;
  over: readonly Filter[];
  /** The arguments of the joined sound of several parts; null for sound in one piece. */
  sound: readonly string[] | null;
}

/**
 * Returns the arguments after the input for a chunk of adaptive video. ffmpeg creates a folder for each rendition in `output`,
 * and master playlists. Segment numbers and times count from the plan's start; the name of a chunk's init segment contains the
 * chunk's index.
 */
export function hlsArgs(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  trim: Trim,
  { output: folder, gain = null, over, sound: joinedSound }: StreamFiles,
  toolset: Toolset,
): string[] {
  const { video, audio } = plan;
  const args: string[] = [];
  if (video?.mode === "encode" && chunk.track !== "audio") {
    args.push(...videoOutput(plan, chunk, source, video, trim, { folder, over }, toolset));
  }
  if (audio && chunk.track !== "video") {
    const filters = [...trim.audio, ...gapFilters(chunk), ...silenceAfter(plan, chunk, source)];
    const ownSound = () =>
      audioArgs(audio, sourceForTrack(source, plan), { ...trim, audio: filters }, toolset, gain);
    const master = video ? AUDIO_MASTER : MASTER;
    args.push(
      ...(joinedSound ?? ["-map", soundStream(plan), ...ownSound()]),
      ...toolset.output,
      ...hlsOutput(
        chunk,
        folder,
        master,
        [`a:0,name:${soundFolder(chunk.sound)}`],
        soundSegmentSeconds(plan),
      ),
    );
  }
  return args;
}

// Players stall where one track ends unless they have buffered the others to their ends.
function silenceAfter(
  { video, start, end, held: freeze, sound_track = 0 }: Plan,
  { sound_from }: Chunk,
  source: Source,
): string[] {
  if (!video) return [];
  const pictureEnd = freeze?.until ?? trackEnd(source, "video") ?? 0;
  const soundEnd = trackEnd(source, "audio", sound_track);
  const until = Math.min(end ?? pictureEnd, pictureEnd);
  const length =
    soundEnd === undefined ? until - SLACK - start : soundEnd < until - SLACK ? until - start : 0;
  if (length <= 0) return [];
  if (sound_from === undefined) return [`apad=whole_dur=${formatSeconds(length)}`];
  // After a rebuild of the graph, whole_dur would count only what the last graph has seen.
  return soundEnd === undefined ? [] : ["apad", `atrim=end=${formatSeconds(length)}`];
}

function videoOutput(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  video: VideoEncode,
  trim: Trim,
  { folder, over }: { folder: string; over: readonly Filter[] },
  toolset: Toolset,
): string[] {
  const { renditions } = plan;
  const at = outputStart(plan, chunk);
  const offset = ["-output_ts_offset", formatSeconds(at)];
  return [
    ...["-filter_complex", hlsGraph(plan, chunk, source, video, { trim, over }, toolset)],
    ...renditions.flatMap((_, index) => ["-map", `[v${index}]`]),
    ...videoCodec(plan, chunk, source, video, toolset),
    ...toolset.output,
    ...(at > 0 ? [...offset, "-start_number", String(firstSegment(plan, chunk, restOf(plan)))] : []),
    // The first segment then has its absolute time, as if earlier ones had been written, and the init segment is the same.
    ...["-hls_segment_options", "movflags=+frag_discont"],
    ...hlsOutput(
      chunk,
      folder,
      MASTER,
      renditions.map(({ name }, index) => `v:${index},name:${name}`),
    ),
  ];
}

// The encoder of AV1 starts a segment even for a rest that is shorter than the minimum.
function restOf({ renditions }: Plan): number {
  return renditions.some(({ codec }) => codec === "av1") ? 0 : MIN_SECONDS;
}

function videoCodec(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  video: VideoEncode,
  toolset: Toolset,
): string[] {
  const { renditions } = plan;
  if (renditions.every(({ codec }) => codec === undefined)) {
    const tool = toolset.renditions[video.codec] ?? videoTool(toolset, video.codec, video.geometry);
    const rates = renditions.flatMap(({ rate }, index) => rateArgs(video.codec, rate, `:v:${index}`));
    return encoderArgs({ plan, chunk, source, video, tool, rates });
  }
  return renditions.flatMap(({ codec = video.codec, geometry, rate }, index) => {
    const tool = toolset.renditions[codec] ?? videoTool(toolset, codec, geometry);
    const own = { ...video, codec, geometry };
    const args = encoderArgs({ plan, chunk, source, video: own, tool, rates: [] });
    // The encoder of small AV1 takes a highest bitrate only beside an average one.
    const usable = tool.encoder === "libaom-av1" && "crf" in rate ? { crf: rate.crf } : rate;
    return [...forStream(args, index), ...rateArgs(codec, usable, `:v:${index}`)];
  });
}

// `args` alternates options and their values, such as `-tag:v hvc1`.
function forStream(args: readonly string[], index: number): string[] {
  return args.map((arg, at) => (at % 2 === 0 ? `${arg.replace(/:v$/, "")}:v:${index}` : arg));
}

interface EncoderFacts {
  plan: Plan;
  chunk: Chunk;
  source: Source;
  video: VideoEncode;
  tool: Tool;
  rates: readonly string[];
}

function encoderArgs({ plan, chunk, source, video, tool, rates }: EncoderFacts): string[] {
  const { codec } = video;
  const until = shownEnd(source, plan, chunk);
  const fps = source.fps ?? DEFAULT_FPS;
  // ffmpeg guesses some times of packed B-frames. A different first gap, as where a part begins between two pictures, would change the
  // chunk's delay, and so its init segment.
  const even = isEven(fps) && source.codecs?.video !== "mpeg4" && !plan.parts;
  // Before another chunk the filter would give the last packet the decoding time of the next chunk's first.
  const isLast = plan.parts?.some(({ end }) => end === chunk.end) ?? chunk.end === plan.end;
  const lastFilters = until === null || !isLast ? [] : [lastFrameDuration(plan, source, until)];
  const timing = timingArgs(source, video, even ? lastFilters : [frameDurations(until)]);
  const bFrames = even && fps > SLOW_FPS && source.fps !== undefined;
  const length = isLast ? (until ?? outputSeconds(plan, chunk)) : null;
  const { encoder, args } = codec === "h265" ? addParams(tool, "-x265-params", SEGMENTED) : tool;
  // SVT-AV1 takes keyframes at fixed distances only (ffmpeg 5.1).
  const group = codec === "av1" ? Math.round(fps * GROUP_SECONDS) : MAX_GROUP;
  const pyramid = codec === "h264" ? ["-b-pyramid", "none"] : [];
  return [
    ...["-c:v", encoder, ...(bFrames ? args : args.map(withoutBFrames))],
    ...rates,
    ...["-force_key_frames", keyframes(length), "-sc_threshold", "0", "-g", String(group)],
    ...(bFrames ? pyramid : ["-bf", "0"]),
    ...timing,
    ...colorArgs(videoColor(source, video)),
  ];
}

const MAX_GROUP = 600;
// ffmpeg passes `-b-pyramid` and `-sc_threshold` only to x264.
const SEGMENTED = "b-pyramid=0:scenecut=0";

// The expression counts from the first frame, as the muxer does; half a tick of the time base absorbs rounding.
function keyframes(length: number | null): string {
  const due = `gte(t-st(0,if(n,ld(0),t))+0.000004,n_forced*${GROUP_SECONDS})`;
  if (length === null) return `expr:${due}`;
  return `expr:${due}*lt(t-ld(0),max(0.000004,${formatSeconds(length - MIN_SECONDS)}))`;
}

// The muxer cuts audio exactly at the segment duration, so segments are slightly longer when the last would be too short.
function soundSegmentSeconds({ duration }: Plan): number {
  const until = (duration ?? 0) + MAX_PRIMING;
  const count = Math.floor(until / SEGMENT_SECONDS);
  const rest = until - count * SEGMENT_SECONDS;
  if (count === 0 || rest > MIN_SECONDS + MAX_PRIMING) return SEGMENT_SECONDS;
  return Number(((until + MIN_SECONDS) / count).toFixed(6));
}

// hls.js ignores the B-frame delay of one frame that the init segment states, and treats more than 0.05 s as a gap.
const SLOW_FPS = 20.5;

// The muxer starts a segment where the previous frame's duration ends. Requires a stream without B-frames.
function frameDurations(until: number | null): string {
  const end = Math.round((until ?? 0) * CLOCK);
  const last = until === null ? "DURATION" : `if(gt(${end},PTS),${end}-PTS,DURATION)`;
  return `setts=pts=PTS:dts=DTS:duration='if(gt(NEXT_DTS,DTS),NEXT_DTS-DTS,${last})'`;
}

function withoutBFrames(arg: string): string {
  return arg.replace(/\bbframes=\d+/, "bframes=0");
}

function hlsOutput(
  chunk: Chunk,
  folder: string,
  master: string,
  streams: readonly string[],
  segment_seconds: number = SEGMENT_SECONDS,
): string[] {
  const init = `init_${chunk.index}.mp4`;
  return [
    ...["-map_metadata", "-1", "-map_chapters", "-1"],
    ...["-avoid_negative_ts", "disabled", "-f", "hls"],
    ...["-hls_time", String(segment_seconds), "-hls_playlist_type", "vod"],
    ...["-hls_segment_type", "fmp4", "-hls_flags", "independent_segments"],
    // With several streams ffmpeg appends a number to the init segment's name unless the name contains %v.
    ...["-hls_fmp4_init_filename", streams.length > 1 ? `../%v/${init}` : init],
    ...["-hls_segment_filename", `${folder}/%v/seg_%05d.m4s`],
    ...["-master_pl_name", master, "-var_stream_map", streams.join(" "), `${folder}/%v/playlist.m3u8`],
  ];
}

/** Returns the filter graph of all renditions, from the source's stream to `[v0]`, `[v1]` and so on; `over` follows the scaling. */
function hlsGraph(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  video: VideoEncode,
  { trim, over }: { trim: Trim; over: readonly Filter[] },
  toolset: Toolset,
): string {
  const cleanup = [
    ...videoCleanup(source, video, trim, toolset),
    ...freezeFilters(freezePictures(source, plan, chunk)),
  ];
  const sizes = sizesOf(plan);
  const scaling = (geometry: Geometry) => [...videoScaling(source, video, geometry, toolset), ...over];
  return sizes.some(({ geometry }) => geometry.pad !== null)
    ? scaleEach(source, cleanup, sizes, scaling)
    : scaleInTurn(source, [...cleanup, ...scaling((sizes[0] as Scaled).geometry)], sizes, toolset.scaler);
}

/** A size of the ladder, and the labels of the graph's outputs in it. */
interface Scaled {
  geometry: Geometry;
  outputs: string[];
}

// Renditions of one size in several codecs share its pictures. The largest comes first, because the others are scaled from it.
function sizesOf({ renditions }: Plan): Scaled[] {
  const sizes: Scaled[] = [];
  for (const [index, { geometry }] of renditions.entries()) {
    const same = sizes.find(
      ({ geometry: { width, height } }) => width === geometry.width && height === geometry.height,
    );
    if (same) same.outputs.push(`[v${index}]`);
    else sizes.push({ geometry, outputs: [`[v${index}]`] });
  }
  return sizes.toSorted((one, other) => areaOf(other) - areaOf(one));
}

function areaOf({ geometry: { width, height } }: Scaled): number {
  return width * height;
}

const LONG_TICK = 1000;

// In long ticks, tpad's clones get the same time as the last picture, which identifies them; setpts then spaces them out.
function freezeFilters({ count, seconds }: { count: number; seconds: number }): string[] {
  if (count === 0) return [];
  const times = LONG_TICK * CLOCK;
  return [
    ...[`settb=1/${CLOCK}`, `setpts=PTS*${times}`, `settb=${LONG_TICK}`],
    `tpad=stop=${count}:stop_mode=clone`,
    `setpts='if(lte(PTS,PREV_INPTS),PREV_OUTPTS+${Math.round(seconds * CLOCK)},PTS)'`,
    ...[`settb=1/${CLOCK}`, `setpts=round(PTS/${times})`],
  ];
}

function splitTo(labels: readonly string[]): string[] {
  return labels.length > 1 ? [`split=${labels.length}`] : [];
}

function scaleEach(
  source: Source,
  cleanup: readonly string[],
  sizes: readonly Scaled[],
  scaling: (geometry: Geometry) => Filter[],
): string {
  const split = [...cleanup, `split=${sizes.length}`].join(",");
  const pads = sizes.map((_, index) => `[s${index}]`).join("");
  const sized = sizes.map(({ geometry, outputs }, index) => {
    return `[s${index}]${chain([...scaling(geometry), ...splitTo(outputs)])}${outputs.join("")}`;
  });
  return [`[${videoStream(source)}]${split}${pads}`, ...sized].join(";");
}

// Scaling each from the next larger one is cheaper; for 360 and 240 lines from 720, SSIM drops by at most 0.001.
function scaleInTurn(
  source: Source,
  first: readonly Filter[],
  sizes: readonly Scaled[],
  scaler: string,
): string {
  const links = sizes.map(({ geometry: { width, height }, outputs }, index) => {
    const filters = index === 0 ? first : [`scale=${width}:${height}:flags=${scaler}`, "setsar=1"];
    const from = index === 0 ? `[${videoStream(source)}]` : `[s${index}]`;
    const labels = index === sizes.length - 1 ? outputs : [...outputs, `[s${index + 1}]`];
    return `${from}${chain([...filters, ...splitTo(labels)])}${labels.join("")}`;
  });
  return links.join(";");
}
