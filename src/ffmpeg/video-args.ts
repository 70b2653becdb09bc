import type { VideoCodec } from "../core/formats.ts";
import type { Source } from "../core/source.ts";
import type { Geometry, Plan, Rate, VideoPlan } from "../plan/plan.ts";
import { colorArgs, isRgb, videoColor } from "./color.ts";
import { fpsText, mendFilters, sizeFilters } from "./filters.ts";
import type { Cut } from "./span.ts";
import type { Toolset } from "./toolset.ts";

/** A {@link VideoPlan} that re-encodes. */
export type VideoEncode = Extract<VideoPlan, { mode: "encode" }>;

/** Seconds between keyframes at the most, so that a player can seek. */
const KEYFRAME_SECONDS = 5;

/** One part in 120000 of a second holds the frames of 24, 25, 30, 50, 60 and the NTSC rates, and milliseconds, exactly. */
export const TIME_BASE = "1:120000";

/** Gives the filter graph of a video, from `[0:V:0]` to `[video]`. */
export function videoGraph(source: Source, video: VideoEncode, cut: Cut, toolset: Toolset): string {
  const filters = [...videoMending(video, cut), ...videoSizing(source, video, video.geometry, toolset)];
  return `[0:V:0]${filters.join(",")}[video]`;
}

/** Gives the filters of a video that come before its size: cut, mended, timed. */
export function videoMending(video: VideoEncode, cut: Cut): string[] {
  return [...cut.video, ...mendFilters({ ...video, length: cut.length, rotate: video.geometry.rotate })];
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
    canvas: gray ? pixels : "gbrp",
    matrix: rgb || !gray ? (matrix ?? "bt601") : null,
    range: "tv",
    alpha: false,
    scaler: toolset.scaler,
  });
}

/** Gives the codec arguments of a video stream. */
export function videoArgs(plan: Plan, source: Source, video: VideoEncode, toolset: Toolset): string[] {
  const tool = toolset.video[video.codec];
  if (!tool) throw new RangeError(`${toolset.name} has no ${video.codec} encoder.`);
  const fps = video.fps ?? source.fps ?? 30;
  const timing =
    video.fps === null
      ? ["-fps_mode", "vfr", "-enc_time_base", TIME_BASE]
      : ["-fps_mode", "vfr", "-r", fpsText(video.fps)];
  return [
    ...["-c:v", tool.encoder, ...tool.args, ...rateArgs(video.codec, video.rate)],
    ...["-g", String(Math.max(1, Math.round(fps * KEYFRAME_SECONDS)))],
    ...timing,
    ...colorArgs(videoColor(source, video)),
    ...(plan.format === "webm" ? [] : ["-video_track_timescale", "120000", "-movie_timescale", "120000"]),
  ];
}

/** Gives the rate arguments of a codec; `stream` is a specifier such as `:v:0`. */
export function rateArgs(codec: VideoCodec, rate: Rate, stream = ""): string[] {
  const option = (name: string, value: number) => [`-${name}${stream}`, String(Math.round(value))];
  const bitrate = `b${stream || ":v"}`;
  if ("bitrate" in rate) {
    const average = [`-${bitrate}`, String(rate.bitrate)];
    // SVT-AV1 takes a ceiling only together with a CRF.
    if (codec === "av1") return average;
    return [...average, ...option("maxrate", rate.bitrate * 1.5), ...option("bufsize", rate.bitrate * 2)];
  }
  return [
    ...option("crf", rate.crf),
    // libvpx takes its CRF as a floor under a bitrate, unless that is 0.
    ...(codec === "vp9" ? [`-${bitrate}`, "0"] : []),
    ...(rate.maxrate === undefined
      ? []
      : [...option("maxrate", rate.maxrate), ...option("bufsize", rate.maxrate * 2)]),
  ];
}

function isGray(color: string): boolean {
  return color.slice(2, 4) === color.slice(4, 6) && color.slice(4, 6) === color.slice(6, 8);
}
