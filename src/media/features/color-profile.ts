import { z } from "zod";
import { fromPrimaries, TABLE_RANGE } from "../color-conversion.ts";
import { pictureFormat } from "../containers.ts";
import { feature } from "../feature.ts";
import { assumedColor } from "../ffmpeg/color.ts";
import { type ColorProfile, type SourceFacts, type ToneCurve, ToSrgb } from "../source-facts.ts";

/** Converts pictures with a color profile to sRGB, which viewers assume for files without one. */
export const color_profile = feature({
  options: {},
  fields: { to_srgb: ToSrgb.exactOptional() },
  part: "pictures",
  plan(_, source, codec) {
    const to_srgb = conversionOf(source, codec);
    return to_srgb ? { to_srgb } : {};
  },
  doneBy: { native: true, stock: true, canvas: true, avif: true },
  refusal: { code: "color_profile", clause: () => "it cannot convert a color profile to sRGB" },
  stage: "profile",
  pictures: ({ to_srgb }, { deep }) => (to_srgb ? [...filters(to_srgb, deep ? MAX : WHITE), ...TAGS] : []),
  // Players assume these for sRGB in a video without tags.
  color: ({ to_srgb }, size) => (to_srgb ? assumedColor(size) : null),
  cost: () => ({
    native: { seconds: 0.04, memory: 24 },
    stock: { seconds: 0.2, memory: 24 },
  }),
});

// Video files tag their colors for players; image formats do not.
function conversionOf(source: SourceFacts, codec: string | null): ToSrgb | null {
  const { kind, color, color_profile: profile } = source;
  if (color?.hdr) return null;
  if (kind === "image") return profile?.to_srgb ?? null;
  return codec === null ? fromPrimaries(color?.primaries) : null;
}

function carriesProfile(format: string, { space }: ColorProfile): boolean {
  return space === "RGB" && pictureFormat(format).profiles === true;
}

/** Returns whether a source has a profile that an output format loses: it is neither converted nor kept. */
export function losesProfile(format: string, { color_profile: profile }: SourceFacts): boolean {
  return profile !== undefined && !profile.to_srgb && !carriesProfile(format, profile);
}

const REMOVE_PROFILE = "sidedata=mode=delete:type=ICC_PROFILE";

/**
 * Returns the filters that remove an ICC profile, which ffmpeg would otherwise copy to the output, although it does not describe its
 * pictures: CMYK is decoded to RGB, and viewers ignore a damaged profile.
 */
export function staleProfileFilters(format: string, source: SourceFacts, to_srgb: unknown): string[] {
  const profile = source.color_profile;
  const isEmbedded = profile?.space !== undefined || profile?.ignored === true;
  const isStale = isEmbedded && !to_srgb && !carriesProfile(format, profile);
  return isStale ? [REMOVE_PROFILE] : [];
}

/** Removes a profile that no longer describes the pictures of an image. */
export const stale_profile = feature({
  options: {},
  fields: { stale_profile: z.literal(true).exactOptional() },
  part: "plan",
  planWhole: ({ kind, format, pictures }, source) => {
    const isImage = pictures !== null && kind !== "video" && kind !== "adaptive_video";
    const isStale = isImage && staleProfileFilters(format, source, pictures.to_srgb).length > 0;
    return isStale ? { stale_profile: true } : {};
  },
  doneBy: { native: true, stock: true, fast: true, webcodecs: true, canvas: true, avif: true },
  refusal: { code: "stale_profile", clause: () => "it would keep a color profile that no longer applies" },
});

const MAX = 65_535;
// ffmpeg maps 8-bit 255 to 65,280 and back.
const WHITE = 65_280;
// The limit of colorchannelmixer's coefficients.
const MAX_COEFFICIENT = 2;
const ROWS = ["r", "g", "b"] as const;

/**
 * Returns the filters that convert RGB to sRGB in 16 bits; `white` is the source's highest value in 16 bits. Light is scaled down by
 * `share` when a coefficient would exceed the filter's limit.
 */
function filters(conversion: ToSrgb, white: number): string[] {
  if ("table" in conversion) return tableFilters(conversion.table, white);
  const { curves, matrix } = conversion;
  const share = Math.max(1, ...matrix.map((value) => Math.abs(value) / MAX_COEFFICIENT));
  const light = ROWS.map((name, at) => `${name}='${MAX}*${lightText(curves[at], white)}'`);
  const mixed = matrix.map((value, at) => {
    const name = `${ROWS[Math.floor(at / 3)]}${ROWS[at % 3]}`;
    return `${name}=${(value / share).toFixed(8)}`;
  });
  const stored = ROWS.map(
    (name) => `${name}='st(0,min(1,val*${(share / MAX).toFixed(10)}));${WHITE}*(${SRGB})'`,
  );
  return [
    `lutrgb=${light.join(":")}`,
    `colorchannelmixer=${mixed.join(":")}`,
    `lutrgb=${[...stored, ALPHA].join(":")}`,
  ];
}

const TAGS = [REMOVE_PROFILE, "setparams=color_primaries=bt709:color_trc=iec61966-2-1"];

// The PPM header of a 64 × 64 picture, which haldclut reads as a 16 × 16 × 16 table; 15 bytes need no padding in base64.
const HALD = btoa("P6\n64 64\n65535\n");

function tableFilters(table: string, white: number): string[] {
  const toFullRange = ROWS.map((name) => `${name}='val*${MAX}/${white}'`);
  const { from, span } = TABLE_RANGE;
  const toSrgb = [
    ...ROWS.map((name) => `${name}='st(0,max(0,val*${span / MAX}+${from}));${WHITE}*(${SRGB})'`),
    ALPHA,
  ];
  const file = `data\\:image/x-portable-pixmap;base64,${HALD}${table}`;
  return [
    // For planar RGB, haldclut (5.1) swaps the components.
    `format=rgba64,lutrgb=${toFullRange.join(":")}[picture];movie=filename='${file}'[table];[picture][table]haldclut=interp=tetrahedral`,
    `lutrgb=${toSrgb.join(":")}`,
  ];
}

const SRGB = "if(lte(ld(0),0.0031308),12.92*ld(0),1.055*pow(ld(0),1/2.4)-0.055)";

// Rounding would raise half of all values by one.
const ALPHA = "a='bitand(val,65280)'";

function lightText(curve: ToneCurve | undefined, white: number): string {
  const value = `min(1,val/${white})`;
  if (!curve) return value;
  if ("points" in curve) return `(st(0,${value});${segmentText(curve.points, 0, curve.points.length - 1)})`;
  const { a, b, c, d, e, f, g } = curve;
  const [scale, start, offset] = [a, b, e].map(numberText);
  const power = `pow(max(0,${scale}*ld(0)+${start}),${numberText(g)})+${offset}`;
  return `(st(0,${value});if(gte(ld(0),${numberText(d)}),${power},${numberText(c)}*ld(0)+${numberText(f)}))`;
}

// A binary search, because the filter evaluates the expression for 65,536 values.
function segmentText(points: readonly (readonly number[])[], first: number, last: number): string {
  if (last - first > 1) {
    const middle = (first + last) >> 1;
    const [x = 0] = points[middle] ?? [];
    const [under, over] = [segmentText(points, first, middle), segmentText(points, middle, last)];
    return `if(lte(ld(0),${numberText(x)}),${under},${over})`;
  }
  const [x0 = 0, y0 = 0] = points[first] ?? [];
  const [x1 = 1, y1 = 1] = points[last] ?? [];
  const slope = x1 > x0 ? (y1 - y0) / (x1 - x0) : 0;
  return `${numberText(y0)}+${numberText(slope)}*(ld(0)-${numberText(x0)})`;
}

function numberText(value: number): string {
  return `(${value.toFixed(8)})`;
}
