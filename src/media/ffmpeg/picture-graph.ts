import { CLOCK } from "../clock.ts";
import { containerOf } from "../containers.ts";
import { autorotates, uprightGeometry } from "../decoded-pictures.ts";
import { extraFilesOf, isFfmpegInput } from "../extra-files.ts";
import type { ColorTags, Filter, PictureSize } from "../feature.ts";
import { DEFAULT_FPS, exactFps, isEven, ntscRate } from "../features/fps.ts";
import { continueStream, type ParameterSets } from "../features/smart.ts";
import { convertedColor, overFilters, pictureFilters } from "../features.ts";
import type { VideoCodec } from "../formats.ts";
import { videoStream } from "../main-tracks.ts";
import type { Size } from "../picture-geometry.ts";
import { type Chunk, type Geometry, outputStart, type Plan, type Rate, type VideoPlan } from "../plan.ts";
import type { Source } from "../source.ts";
import type { SourceFacts } from "../source-facts.ts";
import { KEYFRAME_SECONDS } from "../timeline.ts";
import {
  assumedColor,
  colorArgs,
  filterContext,
  graphicsWhite,
  isRgb,
  scaleMatrix,
  sourceColor,
} from "./color.ts";
import * as errors from "./errors.ts";
import { addParams, type Tool, type Toolset, videoTool } from "./toolset.ts";
import type { Trim } from "./trim.ts";

/** How to clean up pictures before they are scaled. */
export interface Cleanup {
  /** Filters that need neighboring frames, such as a deinterlacer; they come first. */
  clean: readonly string[];
  /** Filters that convert the colors of a profile; they matter here only for pictures that become opaque. */
  profile: readonly string[];
  /** Frames per second; null keeps the timing. */
  fps: number | null;
  /** Length of the output span in seconds; null for up to the end. */
  length: number | null;
  rotate: Geometry["rotate"];
  mirror: boolean;
  matte: string | null;
}

/** The size and colors to which pictures are converted. */
export interface Scaling {
  geometry: Geometry;
  /** Tone-mapping filters, applied after scaling; empty keeps the colors. */
  tone: readonly string[];
  /** Filters that convert the colors of a profile, likewise. */
  profile: readonly string[];
  /** ffmpeg pixel format of the output. */
  pixels: string;
  /** ffmpeg pixel format in which padding is drawn. */
  canvas: string;
  /** YUV matrix and range; null keeps the matrix. */
  matrix: string | null;
  range: "tv" | "pc";
  /** Whether to keep the source's transparency. */
  alpha: boolean;
  flags: string;
}

const TURNS = { 0: [], 90: ["transpose=clock"], 180: ["hflip", "vflip"], 270: ["transpose=cclock"] } as const;

/** Returns the filters that deinterlace, retime and rotate pictures and flatten transparency. */
export function cleanupFilters(cleanup: Cleanup): string[] {
  const filters: string[] = [...cleanup.clean];
  if (cleanup.fps !== null) filters.push(...fpsFilters(cleanup.fps, cleanup.length));
  filters.push(...TURNS[cleanup.rotate]);
  if (cleanup.mirror) filters.push("hflip");
  if (cleanup.matte !== null) {
    if (cleanup.profile.length > 0) filters.push(`format=${DEEP.alpha}`, ...cleanup.profile);
    filters.push(matteFilter(cleanup.matte));
  }
  return filters;
}

// A profile's colors are converted in 16 bits, because its light is uneven.
const DEEP = { alpha: "gbrap16", opaque: "gbrp16" } as const;

/** Returns the filters that crop, scale, tone-map and pad pictures to their output size and pixel format. */
export function scalingFilters(source: Source, scaling: Scaling): string[] {
  const { crop, scale } = scaling.geometry;
  const filters = crop ? [`crop=${crop.width}:${crop.height}:${crop.x}:${crop.y}:exact=1`] : [];
  const { profile, alpha } = scaling;
  if (profile.length > 0) {
    const deep = `format=${alpha ? DEEP.alpha : DEEP.opaque}`;
    const scaled = alpha && scale ? premultiplied(scaling, scale) : [scaleFilter(scaling, scale)];
    filters.push(...scaled, deep, ...profile, ...outputFilters(scaling, null));
  } else if (scaling.tone.length > 0) {
    filters.push(
      ...(scale ? [scaleFilter(scaling, scale)] : []),
      ...scaling.tone,
      ...outputFilters(scaling, null),
    );
  } else if (scale && alpha) {
    filters.push(...premultiplied(scaling, scale), ...outputFilters(scaling, null));
  } else {
    const plain = !isRgb(source) && source.color?.range !== "full" && scaling.matrix === null;
    if (plain && !scale && !scaling.geometry.pad) filters.push(`format=${scaling.pixels}`);
    else filters.push(...outputFilters(scaling, scale));
  }
  return [...filters, "setsar=1"];
}

// Premultiplying keeps the colors of transparent pixels from bleeding into edges.
function premultiplied(scaling: Scaling, size: Size): string[] {
  return ["format=gbrap", "premultiply=inplace=1", scaleFilter(scaling, size), "unpremultiply=inplace=1"];
}

/** Returns the filters that convert scaled pictures to the colors and the pixel format of the output. */
export function colorFilters(scaling: Scaling): string[] {
  return toPixels(scaling, null);
}

// From RGB at odd widths, ffmpeg 5.1 reads the last column's chroma beyond the picture unless subsampling is a step of its own.
function toPixels(scaling: Scaling, size: Size | null): string[] {
  const { pixels, geometry } = scaling;
  const color = colorsOf(scaling);
  const steps =
    geometry.width % 2 === 1 && pixels.includes("420p") ? [pixels.replace("420p", "444p"), pixels] : [pixels];
  return steps.flatMap((format, at) => [
    scaleFilter(scaling, at === 0 ? size : null, color),
    `format=${format}`,
  ]);
}

function outputFilters(scaling: Scaling, scale: Size | null): string[] {
  const { geometry, canvas, pixels } = scaling;
  const { pad } = geometry;
  const bars = pad ? [`pad=${pad.width}:${pad.height}:${pad.x}:${pad.y}:${pad.color}`] : [];
  if (!pad || canvas === pixels) return [...toPixels(scaling, scale), ...bars];
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

// drawbox cannot replace RGBA in ffmpeg 5.1.
function matteFilter(color: string): string {
  const [red, green, blue] = [2, 4, 6].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return (
    "format=rgba,split[over][under];" +
    `[under]lutrgb=r=${red}:g=${green}:b=${blue}:a=255[base];[base][over]overlay=format=rgb`
  );
}

/** Returns the filters that give pictures a constant rate, and fill exactly `length` seconds unless it is null. */
export function fpsFilters(fps: number, length: number | null): string[] {
  const filter = `fps=${fpsText(fps)}:start_time=0`;
  if (length === null) return [filter];
  const frames = Math.max(1, Math.round(length * fps));
  // eof_action keeps a last picture shorter than half a frame: it may be the only one.
  return [`${filter}:eof_action=pass`, "tpad=stop=-1:stop_mode=clone", `trim=end_frame=${frames}`];
}

/** Joins filters into one chain; a filter with two inputs takes the second from a chain of its own. */
export function chain(filters: readonly Filter[]): string {
  const texts = filters.map((each, at) => {
    if (typeof each !== "string") return `[under];${each.second}[over];[under][over]${each.filter}`;
    return at === 0 ? each : `,${each}`;
  });
  return texts.join("");
}

/** Formats frames per second for ffmpeg, NTSC rates as fractions. */
export function fpsText(fps: number): string {
  const whole = ntscRate(fps);
  return whole === null ? String(fps) : `${whole * 1000}/1001`;
}

/** A {@link VideoPlan} that re-encodes. */
export type VideoEncode = Extract<VideoPlan, { mode: "encode" }>;

const TIME_BASE = `1:${CLOCK}`;

/** Returns the filter graph of a video, from its stream to `[video]`; the filters of `over` come last. */
export function videoGraph(
  source: Source,
  video: VideoEncode,
  trim: Trim,
  toolset: Toolset,
  over: readonly Filter[],
): string {
  const filters = [
    ...videoCleanup(source, video, trim, toolset),
    ...videoScaling(source, video, video.geometry, toolset),
  ];
  return `[${videoStream(source)}]${chain([...filters, ...over])}[video]`;
}

/** Throws a RangeError if a filter reads a path with characters that filters interpret; `files` are the paths of the plan's extra files. */
export function checkFilterPaths(plan: Plan, chunk: Chunk, files: readonly string[]): void {
  const extra = extraFilesOf(plan, chunk);
  const path = files.find((each, at) => {
    const file = extra[at];
    return file && !isFfmpegInput(file) && !/^[\w./-]+$/.test(each);
  });
  if (path !== undefined) throw errors.filterPathUnsafe({ path });
}

/** Returns the filters that draw over the scaled pictures of a chunk; `files` are the paths of the plan's extra files. */
export function videoOver(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  files: readonly string[],
  { scaler }: Toolset,
): Filter[] {
  const { video } = plan;
  if (video?.mode !== "encode" || chunk.track === "audio") return [];
  const { depth, fps } = video;
  return overFilters(
    { ...video, picture_fades: plan.picture_fades },
    {
      at: outputStart(plan, chunk),
      fps: fps === null ? null : fpsText(fps),
      yuv: { matrix: videoMatrix(source, video), depth, white: graphicsWhite(source, video) },
      flags: scaler,
      files,
    },
  );
}

/** Returns the filters of a video that precede its scaling: trim, cleanup, timing and rotation. */
export function videoCleanup(source: Source, video: VideoEncode, trim: Trim, { engine }: Toolset): string[] {
  const context = filterContext(source, engine);
  // With -noautorotate, ffmpeg would copy the rotation to the output (5.1).
  const { rotate, mirror } = autorotates(source) ? uprightGeometry(video.geometry, source) : video.geometry;
  const length = trim.length === null ? null : trim.length / trim.speed;
  const clean = pictureFilters("clean", video, context);
  const profile = pictureFilters("profile", video, context);
  return [
    ...trim.video,
    ...pictureFilters("retime", trim, context),
    ...cleanupFilters({ ...video, clean, profile, length, rotate, mirror }),
  ];
}

/** Returns the colors of encoded video: those to which a feature converts it, else the source's; for RGB, those that players assume. */
export function videoColor(source: SourceFacts, video: { geometry: Pick<PictureSize, "height"> }): ColorTags {
  const { geometry } = video;
  return convertedColor(video, geometry) ?? (isRgb(source) ? assumedColor(geometry) : sourceColor(source));
}

/** Returns the matrix of encoded video by the name that the scale filter has for it. */
export function videoMatrix(source: SourceFacts, video: { geometry: Pick<PictureSize, "height"> }): string {
  return scaleMatrix(videoColor(source, video).matrix ?? assumedColor(video.geometry).matrix ?? "");
}

export function videoScaling(
  source: Source,
  video: VideoEncode,
  geometry: Geometry,
  toolset: Toolset,
): string[] {
  const alpha = video.transparent === true;
  const pixels = alpha ? "yuva420p" : video.depth === 10 ? "yuv420p10le" : "yuv420p";
  const { matrix } = videoColor(source, video);
  const context = filterContext(source, toolset.engine);
  const profile = video.matte === null ? pictureFilters("profile", video, context) : [];
  const rgb =
    isRgb(source) || video.matte !== null || profile.length > 0 || (alpha && geometry.scale !== null);
  const gray = geometry.pad ? isGray(geometry.pad.color) : true;
  return scalingFilters(source, {
    geometry,
    tone: pictureFilters("tone", video, context),
    profile,
    pixels,
    // The pad filter assumes BT.601 in YUV; black, white and gray are the same in all matrices.
    canvas: gray ? pixels : alpha ? "gbrap" : pixels.replace("yuv420p", "gbrp"),
    matrix: rgb || !gray ? (matrix ?? "bt601") : null,
    range: "tv",
    alpha,
    flags: toolset.scaler,
  });
}

/** Returns the codec arguments of a video stream whose last picture ends after `until` seconds (null when unknown). */
export function videoArgs(
  plan: Plan,
  input: Source,
  video: VideoEncode,
  toolset: Toolset,
  until: number | null,
): string[] {
  const source = atSpeed(input, plan);
  const plain = rateControlArgs(encoderOf(toolset, video), video.rate, plan);
  const tool = video.parameter_sets ? continuingTool(plain, video.parameter_sets) : plain;
  const fps = video.fps ?? source.fps ?? DEFAULT_FPS;
  const lastFilters = until === null || video.fps !== null ? [] : [lastFrameDuration(plan, source, until)];
  // Packets queued before the header is written reach bitstream filters in the encoder's time base (5.1), so it must be the file's.
  const clock = lastFilters.length > 0 ? `1:${clockOf(plan)}` : TIME_BASE;
  return [
    ...["-c:v", tool.encoder, ...tool.args, ...rateArgs(video.codec, video.rate)],
    ...["-g", String(Math.max(1, Math.round(fps * KEYFRAME_SECONDS)))],
    ...timingArgs(source, video, lastFilters, clock),
    ...colorArgs(videoColor(source, video)),
    ...timescaleArgs(plan),
  ];
}

// By default, x264 writes its rate into the parameter sets, and chunks with different sets cannot be joined.
function encoderOf(toolset: Toolset, { codec, geometry, measured }: VideoEncode): Tool {
  const encoder = videoTool(toolset, codec, geometry);
  return measured && codec === "h264" ? addParams(encoder, "-x264-params", "stitchable=1") : encoder;
}

function clockOf({ format }: Pick<Plan, "format">, otherwise = CLOCK): number {
  return containerOf({ format }).clock ?? otherwise;
}

function atSpeed(source: Source, { speed = 1 }: Plan): Source {
  return speed === 1 ? source : { ...source, fps: (source.fps ?? DEFAULT_FPS) * speed };
}

/**
 * Returns the arguments that keep every frame's time, or enforce a constant rate; `filters` are additional bitstream filters.
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
  // x264 writes the time base into the stream as the frame rate, and readers believe it.
  const ticks = fpsText(2 * exactFps(fps));
  const rate = `h264_metadata=tick_rate=${ticks}:fixed_frame_rate_flag=0`;
  return [...timing, ...bitstream([...filters, rate])];
}

/**
 * Returns the bitstream filter that makes the last picture end after `until` seconds. ffmpeg 5.1 passes no durations to
 * encoders, so muxers repeat the duration of the previous frame. In an MP4 the duration belongs to the packet decoded last,
 * which may be a B-frame shown before the last picture; the filter then sets its decoding time to its presentation time, so that
 * the times add up. `clock` is the ticks a second of the packets.
 */
export function lastFrameDuration(
  plan: Pick<Plan, "format">,
  source: Source,
  until: number,
  clock = CLOCK,
): string {
  // The filter's TB constant is the encoder's time base, but its packets are in the muxer's (5.1).
  const ticks = clockOf(plan, clock);
  const end = Math.round(until * ticks);
  const frame = (ticks / exactFps(source.fps ?? DEFAULT_FPS)).toFixed(3);
  // ffmpeg 5.1 gives the second of two frames a single tick. An animation's average rate says nothing about its last picture.
  const isRegular = `gt(N,1)*lte(abs(${end}-ld(0)-${frame}),${Math.max(1, SAME_SECONDS * ticks)})`;
  const regular = source.kind === "image" ? "0" : isRegular;
  const plain = `gt(NEXT_DTS,DTS)+${regular}+lte(${end},PTS)`;
  const short = `if(gt(${end},PTS)*lt(${end}-PTS,${frame}-1),${end}-PTS,DURATION)`;
  const choose = (otherwise: string, last: string) =>
    `'st(0,max(ld(0),PTS));if(${plain},${otherwise},${last})'`;
  return `setts=pts=PTS:dts=${choose("DTS", "PTS")}:duration=${choose(short, `${end}-PTS`)}`;
}

const SAME_SECONDS = 0.0002;

/** Returns the arguments that set the ticks per second of an MP4's or MOV's pictures; none for a container that fixes them. */
export function timescaleArgs({ format }: Plan, clock = CLOCK): readonly string[] {
  if (containerOf({ format }).clock !== undefined) return [];
  return ["-video_track_timescale", String(clock), "-movie_timescale", String(CLOCK)];
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

// SVT-AV1 has no maxrate: 12 s came out 16 % too small by default, 1 % too large with these; 3 s up to 49 % too large without rc=2.
function rateControlArgs(tool: Tool, rate: Rate, { duration }: Plan): Tool {
  if (tool.encoder !== "libsvtav1" || !("bitrate" in rate)) return tool;
  const short = duration !== null && duration < STEADY_SECONDS;
  return addParams(tool, "-svtav1-params", short ? "rc=2" : "undershoot-pct=0:overshoot-pct=0");
}

function continuingTool(tool: Tool, sets: ParameterSets): Tool {
  const { args, params } = continueStream(sets);
  const own = addParams(tool, "-x264-params", params);
  return { ...own, args: [...own.args, ...args] };
}

const STEADY_SECONDS = 6;

// Shares of the average bitrate: 3 s of noise stay within 10 %; without them, libvpx undershoots and x265 overshoots by a third.
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
