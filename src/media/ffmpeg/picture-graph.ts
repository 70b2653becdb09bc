import type { Filter } from "../feature.ts";
import { DEFAULT_FPS, exactFps, isEven, ntscRate } from "../features/fps.ts";
import { overFilters, pictureFilters } from "../features.ts";
import type { VideoCodec } from "../formats.ts";
import type { Size } from "../picture-geometry.ts";
import type { Chunk, Geometry, Plan, Rate, VideoPlan } from "../plan.ts";
import type { Source } from "../source.ts";
import {
  assumedColor,
  colorArgs,
  filterContext,
  graphicsWhite,
  isRgb,
  scaleMatrix,
  videoColor,
} from "./color.ts";
import { addParams, type Tool, type Toolset, videoTool } from "./toolset.ts";
import type { Cut } from "./trim.ts";

/** What to fix in pictures before they are sized. */
export interface Cleanup {
  /** Filters that clean pictures while their neighbors are there. */
  clean: readonly string[];
  /** Frames per second; null keeps the timing. */
  fps: number | null;
  /** Length of the stretch in seconds; null up to the end. */
  length: number | null;
  rotate: Geometry["rotate"];
  mirror: boolean;
  matte: string | null;
}

/** The target that pictures are sized to. */
export interface Scaling {
  geometry: Geometry;
  /** Filters that change the colors of the sized pictures; empty keeps them. */
  tone: readonly string[];
  /** ffmpeg's pixel formats of the output, and of the canvas that is padded. */
  pixels: string;
  canvas: string;
  /** YUV matrix and range; null keeps the matrix. */
  matrix: string | null;
  range: "tv" | "pc";
  /** Whether to keep the source's transparency. */
  alpha: boolean;
  flags: string;
}

const TURNS = { 0: [], 90: ["transpose=clock"], 180: ["hflip", "vflip"], 270: ["transpose=cclock"] } as const;

/** Returns the filters that deinterlace, retime and turn pictures and flatten transparency. */
export function cleanupFilters(cleanup: Cleanup): string[] {
  const filters: string[] = [...cleanup.clean];
  if (cleanup.fps !== null) filters.push(...fpsFilters(cleanup.fps, cleanup.length));
  filters.push(...TURNS[cleanup.rotate]);
  if (cleanup.mirror) filters.push("hflip");
  if (cleanup.matte !== null) filters.push(matteFilter(cleanup.matte));
  return filters;
}

/** Returns the filters that crop, scale, tone-map and pad pictures to their output size and pixel format. */
export function scalingFilters(source: Source, scaling: Scaling): string[] {
  const { crop, scale } = scaling.geometry;
  const filters = crop ? [`crop=${crop.width}:${crop.height}:${crop.x}:${crop.y}:exact=1`] : [];
  if (scaling.tone.length > 0) {
    filters.push(...(scale ? [scaleFilter(scaling, scale)] : []), ...scaling.tone, ...finish(scaling, null));
  } else if (scale && scaling.alpha) {
    // Premultiplied, so that the colors of transparent pixels do not bleed into the edges.
    const scaled = [
      "format=gbrap",
      "premultiply=inplace=1",
      scaleFilter(scaling, scale),
      "unpremultiply=inplace=1",
    ];
    filters.push(...scaled, ...finish(scaling, null));
  } else {
    const plain = !isRgb(source) && source.color?.range !== "full" && scaling.matrix === null;
    if (plain && !scale && !scaling.geometry.pad) filters.push(`format=${scaling.pixels}`);
    else filters.push(...finish(scaling, scale));
  }
  return [...filters, "setsar=1"];
}

/** Returns the filters that convert sized pictures to the colors and the pixel format of the output. */
export function colorFilters(scaling: Scaling): string[] {
  return [scaleFilter(scaling, null, colorsOf(scaling)), `format=${scaling.pixels}`];
}

// Padding needs a canvas with a full color per pixel; the output format comes last.
function finish(scaling: Scaling, scale: Size | null): string[] {
  const { geometry, canvas, pixels } = scaling;
  const { pad } = geometry;
  const color = colorsOf(scaling);
  const bars = pad ? [`pad=${pad.width}:${pad.height}:${pad.x}:${pad.y}:${pad.color}`] : [];
  if (!pad || canvas === pixels) return [scaleFilter(scaling, scale, color), `format=${pixels}`, ...bars];
  const first = scale ? [scaleFilter(scaling, scale)] : [];
  return [...first, `format=${canvas}`, ...bars, ...colorFilters(scaling)];
}

function colorsOf({ range, matrix }: Scaling): string[] {
  return [`out_range=${range}`, ...(matrix ? [`out_color_matrix=${matrix}`] : [])];
}

function scaleFilter(scaling: Scaling, size: Size | null, color: readonly string[] = []): string {
  const parts = [...(size ? [`${size.width}:${size.height}`] : []), `flags=${scaling.flags}`, ...color];
  return `scale=${parts.join(":")}`;
}

// Derives a plain background of equal size and timing from the picture itself; drawbox cannot replace RGBA in ffmpeg 5.1.
function matteFilter(color: string): string {
  const [red, green, blue] = [2, 4, 6].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return (
    "format=rgba,split[over][under];" +
    `[under]lutrgb=r=${red}:g=${green}:b=${blue}:a=255[base];[base][over]overlay=format=rgb`
  );
}

// Every stretch holds exactly its share of frames, however sparse those of the source are.
function fpsFilters(fps: number, length: number | null): string[] {
  const filter = `fps=${fpsText(fps)}:start_time=0`;
  if (length === null) return [filter];
  const frames = Math.max(1, Math.round(length * fps));
  // Pass the last picture on even if it lasts less than half a frame: it may be the only one.
  return [`${filter}:eof_action=pass`, "tpad=stop=-1:stop_mode=clone", `trim=end_frame=${frames}`];
}

/** Joins filters of one chain; those of two pictures take the second from a chain of their own. */
export function chain(filters: readonly Filter[]): string {
  const texts = filters.map((each, at) => {
    if (typeof each !== "string") return `[under];${each.second}[over];[under][over]${each.filter}`;
    return at === 0 ? each : `,${each}`;
  });
  return texts.join("");
}

/** Formats frames per second for ffmpeg: NTSC rates as fractions. */
export function fpsText(fps: number): string {
  const whole = ntscRate(fps);
  return whole === null ? String(fps) : `${whole * 1000}/1001`;
}

/** A {@link VideoPlan} that re-encodes. */
export type VideoEncode = Extract<VideoPlan, { mode: "encode" }>;

/** Longest distance between keyframes in seconds, so that players can seek. */
const KEYFRAME_SECONDS = 5;

/** Ticks per second that represent the frames of 24, 25, 30, 50, 60 fps and the NTSC rates, and milliseconds, exactly. */
export const TICKS = 120_000;
const TIME_BASE = `1:${TICKS}`;
const WEBM_TICKS = 1000;
/** Makes an MP4 or MOV count in these ticks. */
const TIMESCALES = ["-video_track_timescale", String(TICKS), "-movie_timescale", String(TICKS)];

/** Returns the filter graph of a video, from `[0:V:0]` to `[video]`; the filters of `over` come last. */
export function videoGraph(
  source: Source,
  video: VideoEncode,
  cut: Cut,
  toolset: Toolset,
  over: readonly Filter[],
): string {
  const filters = [
    ...videoCleanup(source, video, cut, toolset),
    ...videoScaling(source, video, video.geometry, toolset),
  ];
  return `[0:V:0]${chain([...filters, ...over])}[video]`;
}

/** Returns the filters that draw over the finished pictures of a chunk; `files` are the paths of the plan's extra files. */
export function videoOver(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  files: readonly string[],
  { scaler }: Toolset,
): Filter[] {
  const { video } = plan;
  if (video?.mode !== "encode" || chunk.track === "audio") return [];
  const { geometry, depth, fps } = video;
  const matrix = videoColor(source, video).matrix ?? assumedColor(geometry).matrix ?? "";
  return overFilters(video, {
    at: Math.max(0, chunk.start - plan.start) / (plan.speed ?? 1),
    fps: fps === null ? null : fpsText(fps),
    yuv: { matrix: scaleMatrix(matrix), depth, white: graphicsWhite(source, video) },
    flags: scaler,
    files,
  });
}

/** Returns the filters of a video that precede its scaling: trimmed, cleaned, timed, turned. */
export function videoCleanup(source: Source, video: VideoEncode, cut: Cut, { engine }: Toolset): string[] {
  const context = filterContext(source, engine);
  // ffmpeg turns a video as players do; with that disabled, it would copy the rotation to the output (5.1).
  const { turn: rotate, mirror } = video.geometry;
  const length = cut.length === null ? null : cut.length / cut.speed;
  const clean = pictureFilters("clean", video, context);
  return [
    ...cut.video,
    ...pictureFilters("retime", cut, context),
    ...cleanupFilters({ ...video, clean, length, rotate, mirror }),
  ];
}

export function videoScaling(
  source: Source,
  video: VideoEncode,
  geometry: Geometry,
  toolset: Toolset,
): string[] {
  const pixels = video.depth === 10 ? "yuv420p10le" : "yuv420p";
  const { matrix } = videoColor(source, video);
  const rgb = isRgb(source) || video.matte !== null;
  const gray = geometry.pad ? isGray(geometry.pad.color) : true;
  return scalingFilters(source, {
    geometry,
    tone: pictureFilters("tone", video, filterContext(source, toolset.engine)),
    pixels,
    // Padding in YUV supports only BT.601; black, white and gray are the same in all matrices.
    canvas: gray ? pixels : pixels.replace("yuv420p", "gbrp"),
    matrix: rgb || !gray ? (matrix ?? "bt601") : null,
    range: "tv",
    alpha: false,
    flags: toolset.scaler,
  });
}

/** Returns the codec arguments of a video stream whose last picture ends after `until` seconds; null when that is unknown. */
export function videoArgs(
  plan: Plan,
  given: Source,
  video: VideoEncode,
  toolset: Toolset,
  until: number | null,
): string[] {
  const source = paced(given, plan);
  const tool = steady(videoTool(toolset, video.codec, video.geometry), video.rate, plan);
  const fps = video.fps ?? source.fps ?? DEFAULT_FPS;
  const lasting = until === null || video.fps !== null ? [] : [lastingFilter(plan, source, until)];
  // Packets that wait for the file's header reach their filters in the encoder's clock (5.1), so that must be the file's.
  const clock = plan.format === "webm" && lasting.length > 0 ? `1:${WEBM_TICKS}` : TIME_BASE;
  return [
    ...["-c:v", tool.encoder, ...tool.args, ...rateArgs(video.codec, video.rate)],
    ...["-g", String(Math.max(1, Math.round(fps * KEYFRAME_SECONDS)))],
    ...timingArgs(source, video, lasting, clock),
    ...colorArgs(videoColor(source, video)),
    ...timescaleArgs(plan),
  ];
}

// The source as it plays at the speed of the output.
function paced(source: Source, { speed = 1 }: Plan): Source {
  return speed === 1 ? source : { ...source, fps: (source.fps ?? DEFAULT_FPS) * speed };
}

/**
 * Returns the arguments that keep every frame at its time, or count at a constant rate; `filters` are additional bitstream
 * filters.
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

/**
 * Returns the bitstream filter that makes the last picture end after `until` seconds. ffmpeg 5.1 passes no durations to
 * encoders, so muxers give the last frame the duration of the one before. In an MP4 the duration belongs to the packet
 * decoded last, which may be a B-frame before the last picture; its decoding time is then set to its presentation time, so
 * that the times add up.
 */
export function lastingFilter(plan: Plan, source: Source, until: number): string {
  // The filter's TB is the encoder's, but packets are in the muxer's (5.1).
  const ticks = plan.format === "webm" ? WEBM_TICKS : TICKS;
  const end = Math.round(until * ticks);
  const frame = (ticks / exactFps(source.fps ?? DEFAULT_FPS)).toFixed(3);
  // ffmpeg then repeats the previous packet's duration, but gives the second of two a single tick (5.1). The average rate of an animation
  // says nothing about its last picture.
  const isUsual = `gt(N,1)*lte(abs(${end}-ld(0)-${frame}),${Math.max(1, SAME_SECONDS * ticks)})`;
  const usual = source.kind === "image" ? "0" : isUsual;
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

/** Returns the rate arguments of a codec; `stream` is a specifier such as `:v:0`. */
export function rateArgs(codec: VideoCodec, rate: Rate, stream = ":v"): string[] {
  const option = (name: string, value: number) => [`-${name}${stream}`, String(Math.round(value))];
  if ("bitrate" in rate) {
    const bounds = AVERAGE[codec].map(([name, share]) => option(name, rate.bitrate * share));
    return [...option("b", rate.bitrate), ...bounds.flat()];
  }
  return [
    ...option("crf", rate.crf),
    // libvpx treats its CRF as a minimum under a bitrate unless that is 0.
    ...(codec === "vp9" ? option("b", 0) : []),
    ...(rate.maxrate === undefined
      ? []
      : [...option("maxrate", rate.maxrate), ...option("bufsize", rate.maxrate * 2)]),
  ];
}

// SVT-AV1 accepts no bounds. Unless told to make up for undershoot, chunks of 12 s of a noisy clip came out 16 % too small; with
// it, 1 % too large. It compensates only over groups of pictures: 3 s of a noisy clip came out up to 49 % too large, and at a
// constant bitrate 1 % too small, which costs a hundredth of SSIM.
function steady(tool: Tool, rate: Rate, { duration }: Plan): Tool {
  if (tool.encoder !== "libsvtav1" || !("bitrate" in rate)) return tool;
  const short = duration !== null && duration < STEADY_SECONDS;
  return addParams(tool, "-svtav1-params", short ? "rc=2" : "undershoot-pct=0:overshoot-pct=0");
}

const STEADY_SECONDS = 6;

// What keeps each encoder near an average bitrate, as shares of it: on 3 s of noise they stay within 10 %. Without limits on both
// sides libvpx undershoots by a third, and x265 overshoots by as much.
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
