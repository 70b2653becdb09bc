import { z } from "zod";
import { MIB } from "../../util/bytes.ts";
import type { ExtraFile } from "../extra-files.ts";
import { extraInputs, readerOf } from "../extra-inputs.ts";
import { type DataFile, feature, type OverContext, option, type PictureSize } from "../feature.ts";
import { closed, fileUrl, hexColor, parseColor, place, size, textUpTo, timedDrawing } from "../fields.ts";
import { BOUNDS } from "../formats.ts";
import type { SourceFacts } from "../source-facts.ts";
import { layerColors, layFilter } from "./overlay.ts";
import {
  burntInput,
  fontFile,
  letterHeight,
  letterPixels,
  type Place,
  placeAt,
  type SubtitleOptions,
  WOFF,
} from "./subtitles.ts";

const LINES = `must be a text of 1 to ${BOUNDS.text.max} characters, without control characters other than line breaks.`;
const VISIBLE = "must contain visible characters, not only spaces.";
const TEXTS = `must be a list of at most ${BOUNDS.texts.max} texts.`;

const letters = {
  text: textUpTo(BOUNDS.text.max)
    .regex(/^(?:\r\n|[\P{Cc}\n])+$/u, LINES)
    .refine((text) => text.isWellFormed(), LINES)
    .regex(/[^\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u, VISIBLE)
    .meta({
      description: "The text. A line break starts a new line, and lines too long for the picture are broken.",
      example: "Lisbon, 2026",
    }),
  font: textUpTo(BOUNDS.label.max).optional().meta({
    description:
      "Family name of the font to try first: one of `fonts`, or DejaVu Sans. By default the fonts are tried in their order, then the Noto fonts of the text's scripts, and DejaVu Sans last.",
    example: "Noto Sans Thai",
  }),
  size: size.optional().meta({
    description: 'Height of the letters: pixels, or a percentage of the output\'s height such as "8%".',
    default: "6%",
    example: "8%",
  }),
  color: hexColor.optional().meta({
    description: "Hex color of the letters, with or without opacity.",
    default: "#ffffff",
    example: "#ffd400",
  }),
  position: place.meta({
    description:
      "Position of the text: a side, a corner or the center, each with a margin of 5%, or the coordinates of its upper left corner in pixels or percentages of the output.",
    default: "center",
    example: "bottom-left",
  }),
  box: hexColor.optional().meta({
    description: "Hex color of a box behind the text, with or without opacity; none when absent.",
    example: "#000000a0",
  }),
};

const movingText = timedDrawing("text", letters, " of a text");

const stillText = closed(letters, "field", " of a text of an image, which has no span of time");

const DESCRIPTION = "Texts to draw over the pictures, each with its position, size, color and box.";
const movingTexts = z.array(movingText, TEXTS).max(BOUNDS.texts.max, TEXTS).optional().meta({
  description: DESCRIPTION,
});
const stillTexts = z.array(stillText, TEXTS).max(BOUNDS.texts.max, TEXTS).optional().meta({
  description: DESCRIPTION,
});

const FONTS = `must be a list of at most ${BOUNDS.fonts.max} fonts.`;
const font = closed(
  {
    url: fileUrl("of the font").meta({
      description:
        "URL of a TrueType or OpenType font, plain or in WOFF 1.0, which is read like the input: http://, https:// or s3://.",
      example: "https://example.com/noto-sans-thai.ttf",
    }),
  },
  "field",
  " of a font",
);
const fonts = z.array(font, FONTS).max(BOUNDS.fonts.max, FONTS).optional().meta({
  description:
    "Fonts for `text` and for burnt-in subtitles, tried in this order; the host's fonts supply the letters that all of them lack: DejaVu Sans, and Noto fonts of other scripts.",
});

const FONT_FORMATS: Readonly<Record<string, string>> = {
  "\0\u0001\0\0": "ttf",
  true: "ttf",
  OTTO: "otf",
  ttcf: "ttc",
  wOFF: WOFF,
};

/** The rules for a font; `maxBytes` also limits all fonts of a request together. */
export const FONT_FILE: DataFile = {
  what: "a TrueType or OpenType font, uncompressed or in WOFF 1.0",
  maxBytes: 24 * MIB,
  head: 4,
  formatOf: (head) => FONT_FORMATS[String.fromCharCode(...head)] ?? null,
};

/** The options of texts, as parsed. */
export interface TextOptions {
  text?: z.infer<typeof movingTexts>;
  fonts?: z.infer<typeof fonts>;
}

/** One text, as parsed. */
export type TextItem = NonNullable<TextOptions["text"]>[number];

const side = z
  .int()
  .min(1)
  .max(1 << 16);
const time = z.number().min(0).max(1e7);
const Texts = z.strictObject({
  /** Index of the script, which shows each layer for a second, among the plan's extra files; its fonts are in the next file. */
  file: z.int().min(0).max(100),
  /** Size of the pictures. */
  width: side,
  height: side,
  layers: z
    .array(
      z.strictObject({
        color: z.string().regex(/^0x[0-9a-f]{6}$/),
        /** Default 1. */
        opacity: z.number().min(0).max(1).exactOptional(),
        /** Seconds of output. */
        start: time,
        end: time.nullable(),
      }),
    )
    .min(1)
    .max(2 * BOUNDS.texts.max),
});

/** Texts drawn over the scaled pictures of a plan: a layer for the letters of each, after one for its box. */
export interface Texts extends z.infer<typeof Texts> {}

/** Labels of a text's fields in a form. */
export const TEXT_LABELS = {
  text: "Text",
  position: "Place of the text",
  size: "Height of the text",
  color: "Color of the text",
  start: "Text appears (seconds)",
  end: "Text disappears (seconds)",
} as const;

const FONT_LABEL = "Font";

/** Draws texts over a video, an image or an animation. */
export const text = feature({
  options: {
    text: option({
      kinds: ["video", "image", "animation"],
      schema: movingTexts,
      schemas: { image: stillTexts },
      timedKinds: ["video", "animation"],
      placed: true,
      words: { label: TEXT_LABELS.text, fields: TEXT_LABELS },
    }),
    fonts: option({
      kinds: ["video", "image", "animation", "adaptive_video"],
      schema: fonts,
      copyable: true,
      placed: true,
      encodes: () => false,
      file: FONT_FILE,
      words: { label: FONT_LABEL, fields: { url: FONT_LABEL } },
    }),
  },
  summary: ({ text: texts }) => (texts?.length ? "with text" : null),
  fields: { text: Texts.exactOptional() },
  part: "pictures",
  plan: (options, _, __, size) => (options.text?.length ? { text: planTexts(options, size) } : {}),
  doneBy: { native: true, stock: true },
  refusal: { code: "text", clause: (engine) => `${engine} cannot draw text into pictures` },
  over: ({ text: plan }, context) => (plan ? drawTexts(plan, context) : []),
  shrink: ({ text: plan }, { width, height }) => (plan ? { text: { ...plan, width, height } } : {}),
  cost: ({ text: plan }) => {
    const layers = plan?.layers.length ?? 0;
    return {
      native: { seconds: 0.001 * layers, memory: 0 },
      stock: { seconds: 0.012 * layers, memory: 7 * layers, fixed_memory: 4 },
    };
  },
});

function planTexts(options: TextOptions, { width, height }: PictureSize): Texts {
  const layers = (options.text ?? []).flatMap(({ color = WHITE, box, start = 0, end = null }) =>
    (box === undefined ? [color] : [box, color]).map((each) => ({ ...readColor(each), start, end })),
  );
  return { file: firstTextFile(options), width, height, layers };
}

function readColor(hex: string): { color: string; opacity?: number } {
  const full = parseColor(hex, true);
  const opacity = full.slice(8);
  return { color: full.slice(0, 8), ...(opacity && { opacity: Number.parseInt(opacity, 16) / 255 }) };
}

const WHITE = "#ffffff";

// The files of burnt-in subtitles precede those of texts.
function firstTextFile(options: TextOptions & SubtitleOptions): number {
  const inputs = extraInputs({ options }).filter(({ role }) => readerOf(role) !== "host").length;
  return inputs + (burntInput(options) === null ? 0 : 2);
}

const SCRIPT_HEAD = 4096;

/**
 * Returns the files for drawing the texts of a request into pictures of a size: a script written by Framewright, and its fonts in one file.
 * `sources` are the extra inputs probed so far.
 */
export function textFiles(
  options: TextOptions,
  sources: readonly SourceFacts[],
  picture: PictureSize,
): ExtraFile[] {
  if (!options.text?.length) return [];
  const size = SCRIPT_HEAD + JSON.stringify(options.text).length;
  const pixels = options.text.reduce(
    (sum, { text, size = DEFAULT_SIZE }) => sum + letterPixels(text.length, letterHeight(size, picture)),
    0,
  );
  return [{ role: "text", format: "ass", size, pixels }, fontFile(options, sources)];
}

/** A text placed in pictures of a size. */
export interface PlacedText extends Pick<TextItem, "text">, Place {
  /** Height of the letters in pixels. */
  size: number;
  hasBox: boolean;
}

const DEFAULT_SIZE = "6%";

/** Returns a text with its sizes in pictures of a size. */
export function placeText(option: TextItem, picture: PictureSize): PlacedText {
  const { text, size: letterSize = DEFAULT_SIZE, position = "center", box } = option;
  return {
    text,
    size: letterHeight(letterSize, picture),
    hasBox: box !== undefined,
    ...placeAt(position, picture),
  };
}

/**
 * Returns the filters that draw the layers one after the other and lay each over the pictures. Opacity is applied after the drawing, which
 * would apply it twice (ffmpeg 5.1). A layer has its color even where it is transparent, so that halved chroma does not darken edges.
 */
function drawTexts({ file, width, height, layers }: Texts, context: OverContext) {
  const { [file]: script = "", [file + 1]: font = "" } = context.files;
  const folder = font.slice(0, font.lastIndexOf("/"));
  const draw = [
    `color=c=white@0:s=${width}x${height}:r=1:d=${layers.length}`,
    "format=rgba",
    `ass=filename=${script}:fontsdir=${folder}:alpha=1`,
    `split=${layers.length}${layers.map((_, at) => `[text${at}]`).join("")};`,
  ].join(",");
  return layers.map(({ color, opacity, start, end }, at) => {
    const [red, green, blue] = [2, 4, 6].map((digit) => Number.parseInt(color.slice(digit, digit + 2), 16));
    const layer = [
      `[text${at}]trim=start_frame=${at}:end_frame=${at + 1}`,
      "setpts=PTS-STARTPTS",
      `lutrgb=r=${red}:g=${green}:b=${blue}`,
      ...layerColors(context, opacity),
    ].join(",");
    const second = at === 0 ? draw + layer : layer;
    return { second, filter: layFilter("x=0:y=0", { start, end }, context) };
  });
}
