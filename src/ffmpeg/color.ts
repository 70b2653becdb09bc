import type { Source } from "../core/source.ts";
import type { VideoPlan } from "../plan/plan.ts";

/** Color facts as ffmpeg names them; null where nothing is known. */
export interface ColorTags {
  primaries: string | null;
  transfer: string | null;
  matrix: string | null;
}

/** BT.709, the color of HD video. */
export const BT709: ColorTags = { primaries: "bt709", transfer: "bt709", matrix: "bt709" };

/** BT.601 for 525 lines, the color of SD video. */
export const BT601: ColorTags = { primaries: "smpte170m", transfer: "smpte170m", matrix: "smpte170m" };

// Players take video of this height or more for HD where nothing is said.
const HD_HEIGHT = 720;

// WebCodecs' names, beside ffmpeg's own.
const NAMES: Readonly<Record<string, string>> = {
  pq: "smpte2084",
  hlg: "arib-std-b67",
  "bt2020-ncl": "bt2020nc",
  rgb: "gbr",
};
const UNKNOWN: ReadonlySet<string> = new Set(["unknown", "unspecified", "reserved"]);

/** Gives the color facts of a source in ffmpeg's names. */
export function sourceColor(source: Source): ColorTags {
  const name = (value: string | undefined) =>
    value === undefined || UNKNOWN.has(value) ? null : (NAMES[value] ?? value);
  const { primaries, transfer, space } = source.color ?? {};
  return { primaries: name(primaries), transfer: name(transfer), matrix: name(space) };
}

/** True when the source's pictures are red, green and blue, or gray or a palette of such: not luma and chroma. */
export function isRgb(source: Source): boolean {
  // RGB in H.264 and H.265 is stored like 4:4:4, and its matrix alone tells.
  if (sourceColor(source).matrix === "gbr") return true;
  return /^(0?rgb|0?bgr|argb|abgr|rgba|bgra|gbr|pal8|mono|gray|ya)/.test(source.pixel_format ?? "");
}

/** Gives the color facts of a video output: the source's for SDR, BT.709 after tone mapping, and by its height for RGB. */
export function videoColor(source: Source, video: Extract<VideoPlan, { mode: "encode" }>): ColorTags {
  if (video.tone_map) return BT709;
  if (isRgb(source)) return Math.min(video.geometry.width, video.geometry.height) < HD_HEIGHT ? BT601 : BT709;
  return sourceColor(source);
}

/** Gives the arguments that write color facts into the output; pictures are always of limited range by then. */
export function colorArgs(color: ColorTags): string[] {
  const { primaries, transfer, matrix } = color;
  return [
    ...(primaries ? ["-color_primaries", primaries] : []),
    ...(transfer ? ["-color_trc", transfer] : []),
    ...(matrix ? ["-colorspace", matrix] : []),
    ...["-color_range", "tv"],
  ];
}
