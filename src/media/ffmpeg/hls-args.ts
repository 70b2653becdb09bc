import type { Filter } from "../feature.ts";
import type { Gain } from "../features/audio-filters-graph.ts";
import { DEFAULT_FPS, isEven } from "../features/fps.ts";
import { sourceForTrack } from "../features/track.ts";
import { type Chunk, type Geometry, outputSeconds, type Plan, soundFolder } from "../plan.ts";
import type { Source } from "../source.ts";
import { freezePictures, SEGMENT_SECONDS, SLACK, shownEnd, trackEnd } from "../timeline.ts";
import { audioArgs } from "./audio-args.ts";
import { colorArgs, videoColor } from "./color.ts";
import { AUDIO_MASTER, MASTER } from "./output-files.ts";
import {
  chain,
  lastingFilter,
  rateArgs,
  TICKS,
  timingArgs,
  type VideoEncode,
  videoCleanup,
  videoScaling,
} from "./picture-graph.ts";
import { type Toolset, videoTool } from "./toolset.ts";
import { type Cut, soundStream } from "./trim.ts";

// Length of a closed group of pictures.
const GROUP_SECONDS = 2;

// A last segment is at least this long. hls.js ignores edit lists, so it takes each segment to lie later than it does: by the priming
// of sound, or by the delay that B-frames cause. Of one no longer than that, it finds nothing in the buffer, and waits at the end.
const LEAST_SECONDS = 0.5;
// Seconds of a frame of AAC at 8 kHz.
const MOST_PRIMING = 0.128;

// The audio's first packet, its priming, lies before 0. Silence before a late start is written out, because a gap would be lost.
const STEADY = "aresample=async=1:first_pts=0";
// Below what ITU-R BT.1359 calls undetectable.
const SAME_START = 0.02;

// ffmpeg makes a new graph where the sound changes its layout or rate, and each would fill from 0 on. Only the first graph gets sound this
// early; its first frame, made silent, goes to 0, and the resampler fills up to the next.
function steady({ sound_from: from }: Chunk): string[] {
  if (from === undefined) return [STEADY];
  if (from <= SAME_START) return ["atrim=start=0", "aresample=async=1"];
  const isFirst = (frame: string, start: string) =>
    `eq(${frame},0)*lte(${start},${seconds(from + SAME_START)})`;
  return [
    `volume='if(${isFirst("n", "startt")},0,1)':eval=frame`,
    `asetpts='if(${isFirst("N", "STARTT")},0,PTS)'`,
    `aresample=async=1:min_hard_comp=${SAME_START}`,
  ];
}

/**
 * Returns everything after the input for a chunk of adaptive video. ffmpeg creates a folder for each rendition in `output`,
 * and master playlists. Segments are numbered and timed over the whole stream, from the plan's start; a chunk's init segment
 * carries its index.
 */
export function hlsArgs(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  cut: Cut,
  { output: folder, gain = null, over }: { output: string; gain?: Gain | null; over: readonly Filter[] },
  toolset: Toolset,
): string[] {
  const { video, audio } = plan;
  const args: string[] = [];
  if (video?.mode === "encode" && chunk.track !== "audio") {
    args.push(...videoOutput(plan, chunk, source, video, cut, { folder, over }, toolset));
  }
  if (audio && chunk.track !== "video") {
    const sound = audioArgs(
      audio,
      sourceForTrack(source, plan),
      { ...cut, audio: [...cut.audio, ...steady(chunk), ...silenceAfter(plan, chunk, source)] },
      toolset,
      gain,
    );
    const master = video ? AUDIO_MASTER : MASTER;
    args.push(
      "-map",
      soundStream(plan),
      ...sound,
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

// Players stop where one of the tracks ends, unless they have loaded the others to their ends.
function silenceAfter(
  { video, start, end, held, sound_track = 0 }: Plan,
  { sound_from }: Chunk,
  source: Source,
): string[] {
  if (!video) return [];
  const last = held?.until ?? trackEnd(source, "video") ?? 0;
  const heard = trackEnd(source, "audio", sound_track);
  const until = Math.min(end ?? last, last);
  // Sound of an unknown end may be as long as the pictures.
  const least = heard === undefined ? until - SLACK - start : heard < until - SLACK ? until - start : 0;
  if (least <= 0) return [];
  if (sound_from === undefined) return [`apad=whole_dur=${seconds(least)}`];
  // That would count what the last graph has seen.
  return heard === undefined ? [] : ["apad", `atrim=end=${seconds(least)}`];
}

function seconds(value: number): string {
  return String(Number(value.toFixed(6)));
}

function videoOutput(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  video: VideoEncode,
  cut: Cut,
  { folder, over }: { folder: string; over: readonly Filter[] },
  toolset: Toolset,
): string[] {
  const { renditions } = plan;
  const at = Math.max(0, chunk.start - plan.start);
  const offset = ["-output_ts_offset", String(Number(at.toFixed(6)))];
  return [
    ...["-filter_complex", hlsGraph(plan, chunk, source, video, { cut, over }, toolset)],
    ...renditions.flatMap((_, index) => ["-map", `[v${index}]`]),
    ...videoCodec(plan, chunk, source, video, toolset),
    ...toolset.output,
    ...(at > 0 ? [...offset, "-start_number", String(Math.round(at / SEGMENT_SECONDS))] : []),
    // States the first segment's full time, as if earlier ones had been written, with an unchanged init segment.
    ...["-hls_segment_options", "movflags=+frag_discont"],
    ...hlsOutput(
      chunk,
      folder,
      MASTER,
      renditions.map(({ name }, index) => `v:${index},name:${name}`),
    ),
  ];
}

function videoCodec(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  video: VideoEncode,
  toolset: Toolset,
): string[] {
  const until = shownEnd(source, plan, chunk);
  const tool = toolset.renditions[video.codec] ?? videoTool(toolset, video.codec, video.geometry);
  // Of packed B-frames some times are guesses. A first gap of another length delays a chunk by more, and its init segment would differ.
  const even = isEven(source.fps ?? DEFAULT_FPS) && source.codecs?.video !== "mpeg4";
  // Before another chunk the filter would put the last packet's decoding time on that of the next chunk's first.
  const isLast = chunk.end === plan.end;
  const lasting = until === null || !isLast ? [] : [lastingFilter(plan, source, until)];
  const timing = timingArgs(source, video, even ? lasting : [lengths(until)]);
  const late = even && (source.fps ?? 0) > SLOW_FPS;
  const length = isLast ? (until ?? outputSeconds(plan, chunk)) : null;
  return [
    ...["-c:v", tool.encoder, ...(late ? tool.args : tool.args.map(withoutBFrames))],
    ...plan.renditions.flatMap(({ rate }, index) => rateArgs(video.codec, rate, `:v:${index}`)),
    ...["-force_key_frames", keyframes(length), "-sc_threshold", "0", "-g", "600"],
    ...(late ? ["-b-pyramid", "none"] : ["-bf", "0"]),
    ...timing,
    ...colorArgs(videoColor(source, video)),
  ];
}

// Counted from the first frame, like the muxer; half a tick of the time base absorbs rounding.
function keyframes(length: number | null): string {
  const due = `gte(t-st(0,if(n,ld(0),t))+0.000004,n_forced*${GROUP_SECONDS})`;
  if (length === null) return `expr:${due}`;
  return `expr:${due}*lt(t-ld(0),max(0.000004,${Number((length - LEAST_SECONDS).toFixed(6))}))`;
}

// The muxer cuts sound wherever the time has come, so its segments are a little longer where too little would be left.
function soundSegmentSeconds({ duration }: Plan): number {
  const until = (duration ?? 0) + MOST_PRIMING;
  const count = Math.floor(until / SEGMENT_SECONDS);
  const left = until - count * SEGMENT_SECONDS;
  if (count === 0 || left > LEAST_SECONDS + MOST_PRIMING) return SEGMENT_SECONDS;
  return Number(((until + LEAST_SECONDS) / count).toFixed(6));
}

// B-frames delay all frames. The init segment states the delay, but hls.js ignores it and takes more than 0.05 s for a gap. One
// frame is less, unless the frame rate is this low; with uneven frames the delay differs from chunk to chunk.
const SLOW_FPS = 20.5;

// The muxer starts a segment where the previous frame should have ended, so durations must reach the next frame. There are no
// B-frames.
function lengths(until: number | null): string {
  const end = Math.round((until ?? 0) * TICKS);
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
    // Frames decoded before 0 stay there: a shift would separate pictures and sound.
    ...["-avoid_negative_ts", "disabled", "-f", "hls"],
    ...["-hls_time", String(segment_seconds), "-hls_playlist_type", "vod"],
    ...["-hls_segment_type", "fmp4", "-hls_flags", "independent_segments"],
    // With several streams each init segment is numbered, unless its name contains the stream's.
    ...["-hls_fmp4_init_filename", streams.length > 1 ? `../%v/${init}` : init],
    ...["-hls_segment_filename", `${folder}/%v/seg_%05d.m4s`],
    ...["-master_pl_name", master, "-var_stream_map", streams.join(" "), `${folder}/%v/playlist.m3u8`],
  ];
}

/** Returns the filter graph of all renditions, in which `over` follows the scaling, from `[0:V:0]` to `[v0]`, `[v1]` and so on. */
function hlsGraph(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  video: VideoEncode,
  { cut, over }: { cut: Cut; over: readonly Filter[] },
  toolset: Toolset,
): string {
  const cleanup = [
    ...videoCleanup(source, video, cut, toolset),
    ...freezeFilters(freezePictures(source, plan, chunk)),
  ];
  const sizes = plan.renditions.map(({ geometry }) => geometry);
  const scaling = (geometry: Geometry) => [...videoScaling(source, video, geometry, toolset), ...over];
  return sizes.some(({ pad }) => pad !== null)
    ? apart(cleanup, sizes.map(scaling))
    : inTurn([...cleanup, ...scaling(sizes[0] as Geometry)], sizes, toolset.scaler);
}

// Of ticks this long, pictures at any frame rate that ffmpeg may guess or not know are less than half of one apart.
const LONG_TICK = 1000;

// Repeated pictures come at the end of the last one, in no time: so they are known, and get times of their own.
function freezeFilters({ count, seconds }: { count: number; seconds: number }): string[] {
  if (count === 0) return [];
  const times = LONG_TICK * TICKS;
  return [
    ...[`settb=1/${TICKS}`, `setpts=PTS*${times}`, `settb=${LONG_TICK}`],
    `tpad=stop=${count}:stop_mode=clone`,
    `setpts='if(lte(PTS,PREV_INPTS),PREV_OUTPTS+${Math.round(seconds * TICKS)},PTS)'`,
    ...[`settb=1/${TICKS}`, `setpts=round(PTS/${times})`],
  ];
}

// Padding differs between renditions, so each is sized separately.
function apart(cleanup: readonly string[], scalings: readonly Filter[][]): string {
  const split = [...cleanup, `split=${scalings.length}`].join(",");
  const pads = scalings.map((_, index) => `[s${index}]`).join("");
  const sized = scalings.map((filters, index) => `[s${index}]${chain(filters)}[v${index}]`);
  return [`[0:V:0]${split}${pads}`, ...sized].join(";");
}

// Scaling each from the one above costs less than from the source, and converts the pictures only once. For 360 and 240 lines
// from 720, SSIM drops by at most a thousandth, at 3 to 7 % fewer bytes.
function inTurn(first: readonly Filter[], sizes: readonly Geometry[], scaler: string): string {
  const links = sizes.map(({ width, height }, index) => {
    const filters = index === 0 ? first : [`scale=${width}:${height}:flags=${scaler}`, "setsar=1"];
    const from = index === 0 ? "[0:V:0]" : `[s${index}]`;
    return index === sizes.length - 1
      ? `${from}${chain(filters)}[v${index}]`
      : `${from}${chain([...filters, "split=2"])}[v${index}][s${index + 1}]`;
  });
  return links.join(";");
}
