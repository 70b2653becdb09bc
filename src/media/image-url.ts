import { z } from "zod";
import { checkGeometry } from "./features/geometry.ts";
import { closed, inputUrl, wholeWithin } from "./fields.ts";
import { FORMATS, QUALITIES } from "./formats.ts";
import { ImageOptions } from "./options.ts";
import { parseBody } from "./parse-body.ts";
import * as errors from "./plan-errors.ts";

/** Seconds for which a signed image URL is valid: the default, and the bounds of `seconds`. */
export const IMAGE_URL_SECONDS = { default: 604_800, min: 1, max: 315_360_000 } as const;

const IMAGE_FORMATS = Object.keys(FORMATS.image) as (keyof typeof FORMATS.image)[];
const { width, height, enlarge, fit, position, background, crop, rotate, flip } = ImageOptions.shape;
const QUALITY = `must be a whole number from 1 to 100, or one of ${QUALITIES.join(", ")}.`;

/** Schema of the options of an image URL. */
export const ImageUrlOptions = closed(
  {
    width,
    height,
    enlarge,
    fit,
    position,
    background,
    crop,
    rotate,
    flip,
    format: z
      .enum(["auto", ...IMAGE_FORMATS], `must be one of auto, ${IMAGE_FORMATS.join(", ")}.`)
      .optional()
      .meta({
        description:
          "The format. `auto` chooses the best one that the request's `Accept` header names, otherwise jpeg, or png for a transparent picture. By default the source's own.",
      }),
    quality: z
      .union([z.int(QUALITY).min(1).max(100), z.enum(QUALITIES)], QUALITY)
      .optional()
      .meta({ description: "Quality: a number from 1 to 100, or a word as in a task.", default: "medium" }),
  },
  "option",
  " for an image URL",
)
  .superRefine(checkGeometry)
  .meta({ id: "ImageUrlOptions" });
/** Options of an image URL. */
export type ImageUrlOptions = z.infer<typeof ImageUrlOptions>;

/** Body of `POST /images`. */
export const ImageUrlRequest = closed({
  source: inputUrl.meta({
    description: "URL of the picture, or of an output of this service.",
    example: "https://example.com/photo.jpg",
  }),
  options: ImageUrlOptions.optional(),
  seconds: wholeWithin(IMAGE_URL_SECONDS).optional().meta({
    description: "Seconds for which the URL is valid.",
    default: IMAGE_URL_SECONDS.default,
  }),
}).meta({ id: "ImageUrlRequest" });
/** Body of `POST /images`. */
export type ImageUrlRequest = z.infer<typeof ImageUrlRequest>;

// Options are written in this order, so that equal ones give equal URLs.
const SHORT = {
  w: "width",
  h: "height",
  enlarge: "enlarge",
  fit: "fit",
  position: "position",
  bg: "background",
  crop: "crop",
  rotate: "rotate",
  flip: "flip",
  f: "format",
  q: "quality",
} as const satisfies Record<string, keyof ImageUrlOptions>;

const LONG: ReadonlySet<string> = new Set(Object.values(SHORT));

/** Parses the body of `POST /images`; throws a MediaError. */
export function parseImageUrlRequest(body: unknown): ImageUrlRequest {
  return parseBody(ImageUrlRequest, body);
}

/** Writes the options part of an image URL, such as `w=640,f=auto`; `f=source` when there are none. */
export function writeImageOptions(options: ImageUrlOptions): string {
  const pairs = Object.entries(SHORT).flatMap(([short, name]) => {
    const value = options[name];
    return value === undefined ? [] : [`${short}=${typeof value === "object" ? rectangle(value) : value}`];
  });
  return pairs.join(",") || NONE;
}

const NONE = "f=source";

/**
 * Parses the options part of an image URL: `name=value`, separated by commas, with short or long names. Throws `invalid_options` or
 * `invalid_format` for an invalid value, and `request_invalid` for an unknown option.
 */
export function parseImageOptions(text: string): ImageUrlOptions {
  const options: Record<string, unknown> = {};
  for (const pair of text === NONE ? [] : text.split(",")) {
    const [, written = "", value = ""] = /^([^=]*)=(.*)$/s.exec(pair) ?? [];
    const name = Object.hasOwn(SHORT, written) ? SHORT[written as keyof typeof SHORT] : written;
    if (!LONG.has(name)) throw errors.urlOptionUnknown({ pair, names: Object.keys(SHORT) });
    if (Object.hasOwn(options, name)) throw errors.urlOptionRepeated({ name });
    options[name] = parseValue(name, value);
  }
  return parseBody(z.object({ options: ImageUrlOptions }), { options }, { isText: true }).options;
}

function parseValue(name: string, text: string): unknown {
  if (name === "format" && text === "jpg") return "jpeg";
  if (name === "background") return text;
  if (name === "enlarge" && (text === "true" || text === "false")) return text === "true";
  if (name !== "crop") return numberOr(text);
  const sides = text.split(":");
  if (sides.length !== 4) return text;
  const [x, y, width, height] = sides.map(numberOr);
  return { x, y, width, height };
}

function numberOr(text: string): number | string {
  return /^\d{1,6}$/.test(text) ? Number(text) : text;
}

function rectangle(crop: Exclude<ImageUrlOptions["crop"], string | undefined>): string {
  return [crop.x ?? 0, crop.y ?? 0, crop.width, crop.height].join(":");
}

/** A signed image URL. */
export const ImageUrl = z
  .object({
    url: z.string().meta({ description: "The URL for an `<img>`, which needs no API key." }),
    expires_at: z
      .int()
      .meta({ description: "Time at which the URL expires, in milliseconds since the Unix epoch." }),
  })
  .meta({ id: "ImageUrl" });
/** A signed image URL. */
export type ImageUrl = z.infer<typeof ImageUrl>;
