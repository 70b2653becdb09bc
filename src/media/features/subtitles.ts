import { z } from "zod";
import { CLOCK, EPSILON_SECONDS } from "../clock.ts";
import { containerOf } from "../containers.ts";
import type { ExtraFile } from "../extra-files.ts";
import { extraInputs, firstInputIndex } from "../extra-inputs.ts";
import { feature, type OverContext, option, type PictureSize } from "../feature.ts";
import {
  closed,
  fileUrl,
  hexColor,
  issue,
  parseColor,
  place,
  type Report,
  size,
  toPixels,
} from "../fields.ts";
import { ANCHORS, BOUNDS } from "../formats.ts";
import type { SourceFacts, SourceStream } from "../source-facts.ts";
import { layerColors, layFilter } from "./overlay.ts";

const LANGUAGE = `must be a language as in BCP 47, such as "en" or "pt-BR".`;
const LABEL = `must be a text of 1 to ${BOUNDS.label.max} characters, without control characters.`;
const FILES = `must be a list of at most ${BOUNDS.subtitles.max} files.`;

const style = closed(
  {
    size: size.optional().meta({
      description:
        'Height of the letters: pixels, or a percentage of the output\'s height such as "8%"; by default, a line is a fifteenth of the shorter side tall.',
      example: "8%",
    }),
    color: hexColor.optional().meta({
      description: "Hex color of the letters, with or without opacity.",
      default: "#ffffff",
      example: "#ffd400",
    }),
    outline: hexColor.optional().meta({
      description:
        "Hex color of the outline of the letters, with or without opacity; black by default, and none by default where there is a box.",
      example: "#102040",
    }),
    box: hexColor.optional().meta({
      description:
        "Hex color of a box behind the text, with or without opacity; by default, there is no box.",
      example: "#000000a0",
    }),
    position: place.meta({
      description:
        "Position of the text: a side, a corner or the center, each with a margin of 5%, or the coordinates of its upper left corner in pixels or percentages of the output. By default, the text is where the file says, or at the bottom.",
      example: "top",
    }),
  },
  "field",
  " of the style of subtitles",
)
  .optional()
  .meta({ description: "Size, colors and position of a text with `burn`." });

/** The style of burnt-in subtitles, as parsed. */
export type CaptionStyle = NonNullable<z.infer<typeof style>>;

const file = closed(
  {
    url: fileUrl("of the subtitles").meta({
      description: "URL of the file, which is read like the input: http://, https:// or s3://.",
      example: "https://example.com/en.srt",
    }),
    language: z
      .string(LANGUAGE)
      .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/, LANGUAGE)
      .optional()
      .meta({ description: "Language of the text, as in BCP 47.", example: "en" }),
    label: z
      .string(LABEL)
      .regex(/^\P{Cc}+$/u, LABEL)
      .max(BOUNDS.label.max, LABEL)
      .refine((text) => text.isWellFormed(), LABEL)
      .optional()
      .meta({ description: "Name of the track in a player's menu.", example: "English" }),
    default: z.boolean("must be true or false.").optional().meta({
      description: "Whether players show the track by default; then no track of the source is shown.",
      default: false,
    }),
    burn: z.boolean("must be true or false.").optional().meta({
      description:
        "Whether the text is drawn into the pictures instead of becoming a track; only one file can be.",
      default: false,
    }),
    style,
  },
  "field",
  " of subtitles",
);
const files = z.array(file, FILES).max(BOUNDS.subtitles.max, FILES).optional().meta({
  description:
    "Files of subtitles that become text tracks after those of the source, or of which one is drawn into the pictures: SRT, WebVTT, ASS or SSA, in UTF-8, or in UTF-16 with a byte order mark. Their times count from the start of the source.",
});

/** The option of subtitles, as parsed. */
export interface SubtitleOptions {
  subtitles?: z.infer<typeof files>;
}

/** Labels of a file's fields in a form. */
export const SUBTITLE_LABELS = {
  url: "Subtitles",
  language: "Language of the subtitles",
  label: "Name in the menu",
  size: "Height of the subtitles",
  color: "Color of the subtitles",
  outline: "Color of their outline",
  box: "Color of their box",
  position: "Place of the subtitles",
} as const;

/** Adds subtitles as text tracks, or draws one file of them into the pictures. */
export const burn = feature({
  options: {
    subtitles: option({
      kinds: ["video", "adaptive_video"],
      schema: files,
      copyable: true,
      placed: true,
      encodes: (value) => value?.some((each) => each.burn) === true,
      words: { label: SUBTITLE_LABELS.url, fields: SUBTITLE_LABELS },
    }),
  },
  summary: ({ subtitles }) => (subtitles ? "with subtitles" : null),
  fields: {
    /** Index of the text among the plan's extra files; its font is the next. */
    burn: z.strictObject({ file: z.int().min(0).max(100) }).exactOptional(),
  },
  // The script and the font of burnt-in subtitles follow the inputs that encoders read.
  plan: (options) =>
    burntFile(options) && isPlain(captionColors(options))
      ? { burn: { file: firstInputIndex(options, "subtitles") } }
      : {},
  doneBy: { native: true, stock: true },
  part: "video",
  moves: (options) => burntInput(options) !== null,
  refusal: { code: "burn", clause: (engine) => `${engine} cannot draw subtitles into pictures` },
  over: ({ burn: plan }, context) => (plan ? burnFilters(plan.file, context) : []),
  // Measured with two lines that change ten times a second; the memory holds the font and its glyphs.
  cost: () => ({ stock: { seconds: 0.009, memory: 0, fixed_memory: 4 } }),
});

const color = z.string().regex(/^0x[0-9a-f]{6}([0-9a-f]{2})?$/);

/**
 * Draws a file of subtitles in colors. Its script holds weights instead of colors, because ffmpeg before 6.1 converts the colors of a
 * script by the matrix of BT.601, whatever the matrix of the pictures.
 */
export const caption_color = feature({
  options: {},
  fields: {
    caption_color: z
      .strictObject({
        /** Index of the script among the plan's extra files; its font is the next. */
        file: z.int().min(0).max(100),
        letters: color,
        outline: color,
        box: color,
      })
      .exactOptional(),
  },
  plan(options: SubtitleOptions) {
    const colors = captionColors(options);
    const isNeeded = burntFile(options) && !isPlain(colors);
    return isNeeded ? { caption_color: { file: firstInputIndex(options, "subtitles"), ...colors } } : {};
  },
  doneBy: { native: true, stock: true },
  part: "video",
  refusal: { code: "burn", clause: (engine) => `${engine} cannot draw subtitles into pictures` },
  over: ({ caption_color: plan }, context) => (plan ? colorFilters(plan, context) : []),
  cost: () => ({ stock: { seconds: 0.009, memory: 0, fixed_memory: 4 } }),
});

/** The parts of drawn subtitles that have a color, and the channel of the script that holds the weight of each. */
const WEIGHTS = { letters: "r", outline: "g", box: "b" } as const;
type CaptionPart = keyof typeof WEIGHTS;
const CAPTION_PARTS = Object.keys(WEIGHTS) as readonly CaptionPart[];

/** Returns the colors of burnt-in subtitles. */
function captionColors(options: SubtitleOptions): Record<CaptionPart, string> {
  const {
    color = "#ffffff",
    box = NONE,
    outline = box === NONE ? "#000000" : NONE,
  } = burntFile(options)?.style ?? {};
  return { letters: parseColor(color, true), outline: parseColor(outline, true), box: parseColor(box, true) };
}

const NONE = "#00000000";

// The filter draws gray alike in every matrix. Translucent letters would show their own outline.
function isPlain(colors: Record<CaptionPart, string>): boolean {
  return bytesOf(colors.letters).length === 3 && CAPTION_PARTS.every((part) => isGray(colors[part]));
}

function isGray(color: string): boolean {
  const [red, green, blue] = bytesOf(color);
  return red === green && red === blue;
}

function bytesOf(color: string): number[] {
  return [...color.slice(2).matchAll(/../g)].map(([digits]) => Number.parseInt(digits, 16));
}

/**
 * Returns the colors of burnt-in subtitles as their script states them: red, green, blue and opacity, each from 0 to 255; null for a part
 * that is not drawn. `white` is the level of white, from 0 to 1.
 */
export function captionScriptColors(
  options: SubtitleOptions,
  white: number,
): Record<CaptionPart, readonly number[] | null> {
  const colors = captionColors(options);
  const plain = isPlain(colors);
  const colorOf = (part: CaptionPart) => {
    const [red = 0, green = 0, blue = 0, opacity = 255] = bytesOf(colors[part]);
    if (opacity === 0) return null;
    if (plain) return [red * white, green * white, blue * white, opacity];
    return ["r", "g", "b"].map((channel) => (channel === WEIGHTS[part] ? 255 : 0));
  };
  return { letters: colorOf("letters"), outline: colorOf("outline"), box: colorOf("box") };
}

/** Returns the file of subtitles that a request draws into the pictures. */
export function burntFile({ subtitles = [] }: SubtitleOptions) {
  return subtitles.find((each) => each.burn);
}

/** Checks that at most one file is the default, and at most one is burnt in, without a label or default. */
export function checkSubtitles(
  { subtitles = [], mode }: SubtitleOptions & { mode?: string | undefined },
  report: Report,
): void {
  const burnt = subtitles.filter((each) => each.burn);
  if (subtitles.filter((each) => each.default).length > 1)
    report.addIssue(issue("subtitles", "can have one default track."));
  if (burnt.length > 1) report.addIssue(issue("subtitles", "can have one file with burn."));
  if (burnt.some((each) => each.default || each.label !== undefined))
    report.addIssue(issue("subtitles", "cannot have a label or default together with burn."));
  if (subtitles.some((each) => each.style && !each.burn))
    report.addIssue(issue("subtitles", "can have a style only together with burn."));
  if (burnt.length > 0 && (mode === "copy" || mode === "smart")) {
    const whole = `options.subtitles with burn needs an encode, which options.mode "${mode}" rules out.`;
    report.addIssue(issue("subtitles", "cannot be burnt into a copy.", whole));
  }
}

/** Returns the index of the burnt-in subtitles among a request's extra inputs; null without any. */
export function burntInput(options: SubtitleOptions): number | null {
  const at = (options.subtitles ?? []).findIndex((each) => each.burn);
  return at < 0 ? null : firstInputIndex(options, "subtitles") + at;
}

/** The place of a text in a picture; lengths are in pixels. */
export interface Place {
  /** Share of the free space to its left and above it. */
  anchor: readonly [x: number, y: number];
  /** Distances from the left, the right, and the nearest edge above or below. */
  margins: readonly [left: number, right: number, vertical: number];
}

const MARGIN = 0.05;

/** Returns the place of a position in a picture. */
export function placeAt(
  position: NonNullable<CaptionStyle["position"]>,
  { width, height }: PictureSize,
): Place {
  const right = Math.round(width * MARGIN);
  const pixels = (length: number | string | undefined, of: number) => Math.round(toPixels(length, of) ?? 0);
  return typeof position === "string"
    ? { anchor: ANCHORS[position], margins: [right, right, Math.round(height * MARGIN)] }
    : { anchor: [0, 0], margins: [pixels(position.x, width), right, pixels(position.y, height)] };
}

/** Returns the height of letters in pixels of a picture. */
export function letterHeight(size: number | string, { height }: PictureSize): number {
  return Math.max(1, toPixels(size, height) ?? 0);
}

/** The font of drawn text, the same on every host: `DejaVuSans.ttf` of DejaVu 2.37. A test checks it against the package. */
export const BURN_FONT = {
  family: "DejaVu Sans",
  /** Bytes. */
  size: 757_076,
  /** SHA-256 in hex. */
  sha256: "7da195a74c55bef988d0d48f9508bd5d849425c1770dba5d7bfc6ce9ed848954",
} as const;

const ASS_HEAD = 2048;
const ASS_SHARE = 3;

/** Returns the files for drawing burnt-in subtitles: an ASS written by Framewright, and its font. `sources` are the extra inputs probed so far. */
export function burnFiles(
  options: SubtitleOptions,
  sources: readonly SourceFacts[],
  picture: PictureSize,
): ExtraFile[] {
  const input = burntInput(options);
  if (input === null) return [];
  const size = ASS_HEAD + ASS_SHARE * (sources[input]?.filesize ?? 0);
  const { size: letters } = burntFile(options)?.style ?? {};
  const pixels = letters === undefined ? 0 : letterPixels(CAPTION_LETTERS, letterHeight(letters, picture));
  return [{ role: "subtitles", format: "ass", size, pixels }, fontFile(options, sources)];
}

// Two lines of 42 letters are the usual limit of subtitles.
const CAPTION_LETTERS = 84;

/** Returns the pixels that a number of letters of a height take together. */
export function letterPixels(letters: number, height: number): number {
  return Math.ceil(letters * height ** 2);
}

/** The format of fonts whose tables are compressed one by one (W3C, WOFF 1.0). */
export const WOFF = "woff";

// Compressed tables usually take more than half of their size.
const WOFF_GROWTH = 3;

/** Returns the file with the fonts of drawn text; `sources` are the extra inputs probed so far. */
export function fontFile(options: object, sources: readonly SourceFacts[]): ExtraFile {
  const inputs = extraInputs({ options });
  const own = sources.filter((_, at) => inputs[at]?.role === "fonts");
  const size = own.reduce<number>(
    (sum, { filesize = 0, format }) => sum + filesize * (format === WOFF ? WOFF_GROWTH : 1),
    BURN_FONT.size,
  );
  return { role: "font", format: "ttf", size, pixels: 0 };
}

/**
 * Returns the filters that draw text into finished pictures. Times in the file count from the start of the output; the font is alone in
 * its folder.
 */
function burnFilters(text: number, { at, fps, files }: OverContext): string[] {
  const { [text]: textPath = "", [text + 1]: fontPath = "" } = files;
  // The filter truncates times to milliseconds, and the picture at the start of a text must show it.
  const ticks = Math.round((at + EPSILON_SECONDS) * CLOCK);
  return [
    `settb=1/${CLOCK}`,
    `setpts=PTS+${ticks}`,
    `ass=filename=${textPath}:fontsdir=${fontPath.slice(0, fontPath.lastIndexOf("/"))}`,
    `setpts=PTS-${ticks}`,
    ...(fps === null ? [] : [`settb=1/(${fps})`]),
  ];
}

/**
 * Returns the filters that draw a script of weights on black pictures with the times of the video's, mix the colors by these weights, and
 * lay the result over the video. In the script, the letters are red, the outline is green, and the box is blue.
 */
function colorFilters(
  { file, ...colors }: Record<CaptionPart, string> & { file: number },
  context: OverContext,
): string[] {
  const mix = CAPTION_PARTS.flatMap((part) => {
    const [red, green, blue, opacity = 255] = bytesOf(colors[part]);
    const share = (level = 0) => ((level / 255) * (opacity / 255)).toFixed(4);
    const weight = WEIGHTS[part];
    return [
      ...[`r${weight}=${share(red)}`, `g${weight}=${share(green)}`, `b${weight}=${share(blue)}`],
      `a${weight}=${share(255)}`,
    ];
  });
  const layer = [
    "[below]format=gray",
    "lut=y=0",
    "format=gbrp",
    ...burnFilters(file, context),
    "format=gbrap",
    `colorchannelmixer=${mix.join(":")}:aa=0`,
    // The mixer multiplied the colors by their opacity.
    "unpremultiply=inplace=1",
    ...layerColors(context),
  ].join(",");
  const lay = layFilter("x=0:y=0", { start: 0, end: null }, context);
  return [`split[above][below];${layer}[letters];[above][letters]${lay}`];
}

const SubtitleFacts = z.strictObject({
  language: z.string().max(64).exactOptional(),
  title: z.string().max(4096).exactOptional(),
  default: z.literal(true).exactOptional(),
  forced: z.literal(true).exactOptional(),
});
export interface SubtitleFacts extends z.infer<typeof SubtitleFacts> {}

const index = z.int().min(0).max(1000);
/** A text track of the output, from a stream of the source or from an extra input, by index. */
const SubtitlePlan = z.union([
  z.strictObject({ ...SubtitleFacts.shape, stream: index, file: z.never().exactOptional() }),
  z.strictObject({ ...SubtitleFacts.shape, file: index, stream: z.never().exactOptional() }),
]);
export type SubtitlePlan = z.infer<typeof SubtitlePlan>;

/** The text tracks of a plan. */
export const SUBTITLE_FIELDS = { subtitles: z.array(SubtitlePlan).max(1000).exactOptional() };

const PICTURES: ReadonlySet<string> = new Set(["hdmv_pgs_subtitle", "dvd_subtitle", "dvb_subtitle", "xsub"]);

/** Plans the text tracks of an output: the readable ones of the source in order, then those of files. */
export function planSubtitles(source: SourceFacts, options: SubtitleOptions): { subtitles?: SubtitlePlan[] } {
  const ofFiles = planFiles(options);
  const hasDefault = ofFiles.some((track) => track.default);
  const { texts } = containerOf({ format: source.format });
  const isReadable = ({ kind, codec }: SourceStream) => kind === "subtitle" && texts.includes(codec ?? "");
  // The index of a fragmented file does not list its samples.
  const streams = source.fragmented ? [] : (source.streams ?? []).filter(isReadable);
  const ofSource = streams.map(({ index, language, title, default: isDefault, forced }) => ({
    stream: index,
    ...(language && { language }),
    ...(title && { title }),
    ...(isDefault && !hasDefault && { default: isDefault }),
    ...(forced && { forced }),
  }));
  const subtitles = [...ofSource, ...ofFiles];
  return subtitles.length > 0 ? { subtitles } : {};
}

function planFiles(options: SubtitleOptions): SubtitlePlan[] {
  const { subtitles = [] } = options;
  const first = firstInputIndex(options, "subtitles");
  return subtitles.flatMap(({ language, label, default: isDefault, burn: isBurnt }, at) => {
    const facts = {
      ...(language && { language }),
      ...(label && { title: label }),
      ...(isDefault && { default: isDefault }),
    };
    return isBurnt ? [] : [{ file: first + at, ...facts }];
  });
}

/**
 * Returns the total bytes of a request's subtitle files in an output, including text that `parts` repeat; `sources` are the extra inputs
 * probed so far.
 */
export function subtitleBytes(
  options: SubtitleOptions,
  sources: readonly SourceFacts[] = [],
  parts: readonly PartRange[] = [],
): number {
  const files = planFiles(options);
  const size = files.reduce((sum, { file: at = 0 }) => sum + (sources[at]?.filesize ?? 0), 0);
  return size * Math.max(1, repetitions(parts)) + files.length * parts.length * CUT_CUE_BYTES;
}

interface PartRange {
  start: number;
  end: number;
}

// A cue that crosses the edge of a part is written on both sides.
const CUT_CUE_BYTES = 100;

/** Returns the maximum number of parts that show the same moment. */
function repetitions(parts: readonly PartRange[]): number {
  const edges = parts.flatMap(({ start, end }) => [[start, 1] as const, [end, -1] as const]);
  edges.sort(([one, opens], [other, otherOpens]) => one - other || opens - otherOpens);
  let [open, max] = [0, 0];
  for (const [, step] of edges) {
    open += step;
    max = Math.max(max, open);
  }
  return max;
}

const DEFAULT_BITS = 400;
const CONTAINER_SHARE = 2;

/** Estimates the bytes of the source's own text tracks in the output of a plan. */
export function ownTextBytes(
  plan: {
    subtitles?: readonly SubtitlePlan[] | undefined;
    duration: number | null;
    speed?: number | undefined;
    parts?: readonly PartRange[] | undefined;
  },
  source: SourceFacts,
): number {
  const { subtitles = [], duration, speed = 1, parts } = plan;
  const seconds = (duration ?? 0) * speed;
  const bits = subtitles.reduce((sum, { stream }) => {
    if (stream === undefined) return sum;
    const track = source.streams?.find((each) => each.index === stream);
    const length = track?.duration ?? source.duration ?? seconds;
    const ratio = seconds / (source.duration ?? seconds);
    const share = parts ? ratio : Math.min(1, ratio);
    return sum + (track?.bitrate ?? DEFAULT_BITS) * length * share;
  }, 0);
  return (bits / 8) * CONTAINER_SHARE;
}

/** Returns whether a subtitle track consists of pictures, which no output can hold. */
export function isPictured({ codec }: SourceStream): boolean {
  return PICTURES.has(codec ?? "");
}
