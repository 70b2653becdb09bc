import type { ColorTags, Engine, FilterContext, PictureSize } from "../feature.ts";
import type { SourceFacts } from "../source-facts.ts";

/** BT.709, the colors of HD video. */
export const BT709 = {
  primaries: "bt709",
  transfer: "bt709",
  matrix: "bt709",
} as const satisfies ColorTags;

/** BT.601 for 525 lines, the colors of SD video. */
const BT601 = {
  primaries: "smpte170m",
  transfer: "smpte170m",
  matrix: "smpte170m",
} as const satisfies ColorTags;

const HD_HEIGHT = 720;

// WebCodecs' names; ffmpeg's own pass unchanged.
const NAMES: Readonly<Record<string, string>> = {
  pq: "smpte2084",
  hlg: "arib-std-b67",
  "bt2020-ncl": "bt2020nc",
  rgb: "gbr",
};
const UNKNOWN: ReadonlySet<string> = new Set(["unknown", "unspecified", "reserved"]);

/** Returns the colors that a source states, except an RGB matrix for pixels that cannot be RGB. */
export function statedColor(source: SourceFacts): ColorTags {
  const name = (value: string | undefined) =>
    value === undefined || UNKNOWN.has(value) ? null : (NAMES[value] ?? value);
  const { primaries, transfer, space } = source.color ?? {};
  const matrix = hasFalseMatrix(source) ? null : name(space);
  return { primaries: name(primaries), transfer: name(transfer), matrix };
}

function hasFalseMatrix({ color, pixel_format = "" }: SourceFacts): boolean {
  const isGbr = NAMES[color?.space ?? ""] === "gbr" || color?.space === "gbr";
  return isGbr && /^(yuvj?a?4[0-2]|nv|p0|p2)/.test(pixel_format);
}

/** Returns the colors of a source; where it states no matrix, those that players assume. */
export function sourceColor(source: SourceFacts): ColorTags {
  const colors = statedColor(source);
  if (colors.matrix !== null || isRgb(source) || source.kind === "audio") return colors;
  if (source.color?.hdr || colors.primaries === "bt2020") return colors;
  if (source.kind === "image" || source.codecs?.video === "jpeg") return { ...colors, matrix: BT601.matrix };
  const { primaries, transfer, matrix } = assumedColor({ height: source.coded_height ?? source.height ?? 0 });
  return { primaries: colors.primaries ?? primaries, transfer: colors.transfer ?? transfer, matrix };
}

/** Returns the colors to set on frames from a browser's decoder, which takes untagged ones for BT.709; null when it is right. */
export function correctedColor(source: SourceFacts): typeof BT601 | typeof BT709 | null {
  if (statedColor(source).matrix !== null) return null;
  if (sourceColor(source).matrix === BT601.matrix) return BT601;
  return hasFalseMatrix(source) ? BT709 : null;
}

/** Returns the matrix that players assume for an untagged source, unless it is BT.601, ffmpeg's own guess; otherwise null. */
export function assumedMatrix(source: SourceFacts): string | null {
  const { matrix } = sourceColor(source);
  const isAssumed = matrix !== null && statedColor(source).matrix === null;
  const isGuess = matrix === BT601.matrix && !hasFalseMatrix(source);
  return isAssumed && !isGuess ? matrix : null;
}

/** Returns the filters that state the matrix that players assume for an untagged source, unless ffmpeg guesses the same. */
export function assumptionFilters(source: SourceFacts): string[] {
  const matrix = assumedMatrix(source);
  return matrix === null ? [] : [`setparams=colorspace=${matrix}`];
}

/** Returns whether the source's pixel format is RGB, gray or a palette, rather than YUV. */
export function isRgb(source: SourceFacts): boolean {
  // RGB in H.264 and H.265 is stored like 4:4:4; only the matrix reveals it.
  if (statedColor(source).matrix === "gbr") return true;
  return /^(0?rgb|0?bgr|argb|abgr|rgba|bgra|gbr|pal8|mono|gray|ya|cmyk)/.test(source.pixel_format ?? "");
}

/** Returns the colors that players assume for untagged video of a height, as it is stored. */
export function assumedColor({ height }: Pick<PictureSize, "height">): ColorTags {
  return height < HD_HEIGHT ? BT601 : BT709;
}

const SCALE_MATRICES: Readonly<Record<string, string>> = {
  bt709: "bt709",
  bt2020nc: "bt2020",
  smpte240m: "smpte240m",
  fcc: "fcc",
};

/** Returns the scale filter's name for the matrix of a color tag. */
export function scaleMatrix(matrix: string): string {
  return SCALE_MATRICES[matrix] ?? "bt601";
}

// Level of graphics white (ITU-R BT.2408) as a share of the signal.
const HDR_WHITE: Readonly<Record<string, number>> = { smpte2084: 0.58, "arib-std-b67": 0.75 };

/** Returns the level at which white graphics are drawn into a video, as a share of the signal. */
export function graphicsWhite(source: SourceFacts, { depth }: { depth: 8 | 10 }): number {
  const { transfer } = sourceColor(source);
  return (depth === 10 && HDR_WHITE[transfer ?? ""]) || 1;
}

/** Returns the arguments that tag the output's colors; its range is always limited. */
export function colorArgs(color: ColorTags): string[] {
  const { primaries, transfer, matrix } = color;
  return [
    ...(primaries ? ["-color_primaries", primaries] : []),
    ...(transfer ? ["-color_trc", transfer] : []),
    ...(matrix ? ["-colorspace", matrix] : []),
    ...["-color_range", "tv"],
  ];
}

/** Returns the facts on which the filters of features depend. */
export function filterContext(source: SourceFacts, engine: Engine): FilterContext {
  return { engine, color: sourceColor(source), deep: isRgb(source) && source.color?.bit_depth === 16 };
}
