import type { VideoCodec } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import type { Geometry, Plan, Rate, VideoPlan } from "../plan/plan.ts";
import { DEFAULT_FPS, exactFps, ntscRate } from "../plan/rate.ts";
import { colorArgs, isRgb, videoColor } from "./color.ts";
import { fpsText, mendFilters, sizeFilters } from "./filters.ts";
import type { Cut } from "./span.ts";
import { addParams, type Tool, type Toolset, videoTool } from "./toolset.ts";

/** A {@link VideoPlan} that re-encodes. */
export type VideoEncode = Extract<VideoPlan, { mode: "encode" }>;

/** Seconds between keyframes at the most, so that a player can seek. */
const KEYFRAME_SECONDS = 5;

/** One part in 120000 of a second holds the frames of 24, 25, 30, 50, 60 and the NTSC rates, and milliseconds, exactly. */
export const TICKS = 120_000;
const TIME_BASE = `1:${TICKS}`;
const WEBM_TICKS = 1000;
/** The arguments that make an MP4 or MOV count in the same parts. */
const TIMESCALES = ["-video_track_timescale", String(TICKS), "-movie_timescale", String(TICKS)];

/** Gives the filter graph of a video, from `[0:V:0]` to `[video]`. */
export function videoGraph(source: Source, video: VideoEncode, cut: Cut, toolset: Toolset): string {
  const filters = [...videoMending(video, cut), ...videoSizing(source, video, video.geometry, toolset)];
  return `[0:V:0]${filters.join(",")}[video]`;
}

/** Gives the filters of a video that come before its size: cut, mended, timed; it has been turned by then. */
export function videoMending(video: VideoEncode, cut: Cut): string[] {
  // ffmpeg turns a video itself: when told not to, it hands the turn on to the output as well (5.1).
  return [...cut.video, ...mendFilters({ ...video, length: cut.length, rotate: 0 })];
}

/** Gives the filters that bring a video to a size. */
export function videoSizing(
  source: Source,
  video: VideoEncode,
  geometry: Geometry,
  toolset: Toolset,
): string[] {
  const pixels = video.depth === 10 ? "yuv420p10le" : "yuv420p";
  const { matrix } = videoColor(source, video);
  const rgb = isRgb(source) || video.matte !== null;
  const gray = geometry.pad ? isGray(geometry.pad.color) : true;
  return sizeFilters(source, {
    geometry,
    tone_map: video.tone_map,
    pixels,
    // Drawing in luma and chroma knows only BT.601; black, white and gray are the same in all.
    canvas: gray ? pixels : pixels.replace("yuv420p", "gbrp"),
    matrix: rgb || !gray ? (matrix ?? "bt601") : null,
    range: "tv",
    alpha: false,
    flags: toolset.scaler,
  });
}

/** Returns the codec arguments of a video stream whose last picture ends after so many seconds, null where that is unknown. */
export function videoArgs(
  plan: Plan,
  source: Source,
  video: VideoEncode,
  toolset: Toolset,
  until: number | null,
): string[] {
  const tool = steady(videoTool(toolset, video.codec, video.geometry), video.rate, plan);
  const fps = video.fps ?? source.fps ?? DEFAULT_FPS;
  const lasting = until === null || video.fps !== null ? [] : [lastingFilter(plan, source, until)];
  // Packets that wait for the header of the file reach their filters on the encoder's clock (5.1), so that has to be the file's.
  const clock = plan.format === "webm" && lasting.length > 0 ? `1:${WEBM_TICKS}` : TIME_BASE;
  return [
    ...["-c:v", tool.encoder, ...tool.args, ...rateArgs(video.codec, video.rate)],
    ...["-g", String(Math.max(1, Math.round(fps * KEYFRAME_SECONDS)))],
    ...timingArgs(source, video, lasting, clock),
    ...colorArgs(videoColor(source, video)),
    ...timescaleArgs(plan),
  ];
}

/**
 * Returns the arguments that keep every frame at its time, or that count at a constant rate; `filters` are bitstream filters of
 * packets beside those.
 */
export function timingArgs(
  source: Source,
  video: VideoEncode,
  filters: readonly string[] = [],
  clock = TIME_BASE,
): string[] {
  const bitstream = (list: readonly string[]) => (list.length > 0 ? ["-bsf:v", list.join(",")] : []);
  if (video.fps !== null) return ["-fps_mode", "vfr", "-r", fpsText(video.fps), ...bitstream(filters)];
  const timing = ["-fps_mode", "vfr", "-enc_time_base:v", clock];
  const fps = source.fps ?? DEFAULT_FPS;
  if (video.codec !== "h264" || !isEven(fps)) return [...timing, ...bitstream(filters)];
  // x264 takes the time base for the frame rate and writes it into the stream, where readers look for it.
  const ticks = fpsText(2 * exactFps(fps));
  const rate = `h264_metadata=tick_rate=${ticks}:fixed_frame_rate_flag=0`;
  return [...timing, ...bitstream([...filters, rate])];
}

/** Whether an average is that of frames at even times: one of frames at uneven times is odd, as they have no rate. */
export function isEven(fps: number): boolean {
  return Math.abs(2 * fps - Math.round(2 * fps)) < 0.01 || ntscRate(fps) !== null;
}

/**
 * Returns the bitstream filter that makes the last picture end after so many seconds. ffmpeg 5.1 passes no durations to encoders, and
 * muxers then take the last frame for as long as the one before. Of an MP4 the packet that is decoded last has that duration, which
 * may be a B-frame before the last picture: it is then decoded when it is shown, so that the times add up.
 */
export function lastingFilter(plan: Plan, source: Source, until: number): string {
  // The filter's own TB is that of the encoder, and packets are in the muxer's (5.1).
  const ticks = plan.format === "webm" ? WEBM_TICKS : TICKS;
  const end = Math.round(until * ticks);
  const frame = (ticks / exactFps(source.fps ?? DEFAULT_FPS)).toFixed(3);
  const usual = `lte(abs(${end}-ld(0)-${frame}),${Math.max(1, SAME_SECONDS * ticks)})`;
  const plain = `gt(NEXT_DTS,DTS)+${usual}+lte(${end},PTS)`;
  const short = `if(gt(${end},PTS)*lt(${end}-PTS,${frame}-1),${end}-PTS,DURATION)`;
  const choose = (otherwise: string, last: string) =>
    `'st(0,max(ld(0),PTS));if(${plain},${otherwise},${last})'`;
  return `setts=pts=PTS:dts=${choose("DTS", "PTS")}:duration=${choose(short, `${end}-PTS`)}`;
}

const SAME_SECONDS = 0.0002;

/** Returns the arguments that make an MP4 or MOV count in {@link TICKS}; none for other formats. */
export function timescaleArgs({ format }: Plan): readonly string[] {
  return format === "webm" ? [] : TIMESCALES;
}

/** Gives the rate arguments of a codec; `stream` is a specifier such as `:v:0`. */
export function rateArgs(codec: VideoCodec, rate: Rate, stream = ":v"): string[] {
  const option = (name: string, value: number) => [`-${name}${stream}`, String(Math.round(value))];
  if ("bitrate" in rate) {
    const bounds = AVERAGE[codec].map(([name, share]) => option(name, rate.bitrate * share));
    return [...option("b", rate.bitrate), ...bounds.flat()];
  }
  return [
    ...option("crf", rate.crf),
    // libvpx takes its CRF as a floor under a bitrate, unless that is 0.
    ...(codec === "vp9" ? option("b", 0) : []),
    ...(rate.maxrate === undefined
      ? []
      : [...option("maxrate", rate.maxrate), ...option("bufsize", rate.maxrate * 2)]),
  ];
}

// SVT-AV1 takes no bounds. Unless it is told to make good what it gave too little, chunks of 12 s of a noisy clip came out 16 % too
// small, and with it 1 % too large. It evens out over its groups of pictures only: 3 s of a noisy clip came out up to 49 % too large,
// and at a constant bitrate 1 % too small, which costs SSIM a hundredth.
function steady(tool: Tool, rate: Rate, { duration }: Plan): Tool {
  if (tool.encoder !== "libsvtav1" || !("bitrate" in rate)) return tool;
  const short = duration !== null && duration < STEADY_SECONDS;
  return addParams(tool, "-svtav1-params", short ? "rc=2" : "undershoot-pct=0:overshoot-pct=0");
}

const STEADY_SECONDS = 6;

// What keeps each encoder near an average bitrate, as shares of it: measured on 3 s of noise they stay within 10 %.
// libvpx undershoots by a third unless it is held from both sides, x265 overshoots by as much.
const AVERAGE = {
  h264: [
    ["maxrate", 1.5],
    ["bufsize", 2],
  ],
  h265: [
    ["maxrate", 1],
    ["bufsize", 1],
  ],
  vp9: [
    ["minrate", 1],
    ["maxrate", 1],
    ["bufsize", 1],
  ],
  av1: [],
} as const satisfies Record<VideoCodec, readonly (readonly [option: string, share: number])[]>;

function isGray(color: string): boolean {
  return color.slice(2, 4) === color.slice(4, 6) && color.slice(4, 6) === color.slice(6, 8);
}
