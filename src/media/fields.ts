import { z } from "zod";
import { toHex } from "../util/bytes.ts";
import { quote } from "../util/text.ts";
import { BOUNDS, INPUT_SCHEMES, POSITIONS } from "./formats.ts";

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** Where a check reports what is wrong. */
export type Report = Pick<z.RefinementCtx, "addIssue">;

/**
 * Returns an issue whose message is the option's name and the rule; `whole` replaces that message, or is true when the rule is the
 * whole message.
 */
export function issue(option: string, message: string, whole?: string | true) {
  return { code: "custom" as const, path: [option], message, params: { whole } };
}

/** Checks that a span of time ends after its start. */
function checkTimes(
  { start = 0, end }: { start?: number | undefined; end?: number | undefined },
  report: Report,
): void {
  if (end === undefined || end > start) return;
  report.addIssue(issue("end", `must be after the start (${start}).`));
}

/** Creates the schema of an object without unknown fields; `what` names them in messages, `of` the object. */
export function closed<const S extends z.core.$ZodLooseShape>(shape: S, what = "field", of = "") {
  const names = Object.keys(shape);
  const choices = names.length > 0 ? `the ${what}s are ${names.join(", ")}` : "there are none";
  const error = (issue: z.core.$ZodRawIssue) =>
    issue.code === "unrecognized_keys"
      ? `Unknown ${what} ${quote(issue.keys[0] ?? "")}${of}; ${choices}.`
      : "must be an object.";
  return z.strictObject(shape, { error });
}

/** Schema of a name that becomes part of a path or filter. */
export const plainName = z.string().regex(/^[A-Za-z0-9][\w.:-]{0,63}$/);

/** Accepts null for an absent optional field, as records show it. */
export function nullable<T extends z.ZodType>(schema: T) {
  return z.preprocess((value) => value ?? undefined, schema);
}

/** Creates the schema of the kind of a request, one of `kinds`. */
export function kindFrom<const K extends readonly string[]>(kinds: K, all: readonly string[] = kinds) {
  const choices = all.join(", ");
  return z.enum(kinds, {
    error({ input }) {
      if (input == null) return `is required: ${choices}.`;
      return typeof input === "string"
        ? `Unknown kind ${quote(input)}; use ${choices}.`
        : "must be a string.";
    },
  });
}

/** Creates the schema of a choice. */
export function oneOf<const V extends readonly string[]>(values: V, of = "") {
  return z.enum(values, `must be one of ${values.join(", ")}${of}.`);
}

/** Creates the schema of a number within bounds. */
export function within({ min, max }: Bounds, what = "a number") {
  return z.number(`must be ${what} from ${min} to ${max}.`).min(min).max(max);
}

/** A point in time. */
export const timestamp = z
  .int()
  .meta({ description: "Milliseconds since the Unix epoch.", example: 1_795_170_600_000 });

/** Schema of a time or a length in seconds. */
export const seconds = within(BOUNDS.seconds, "a number of seconds");

/** Creates the schema of something drawn over moving pictures between two times; descriptions call it `what`, messages `of`. */
export function timedDrawing<const S extends z.core.$ZodLooseShape>(what: string, shape: S, of: string) {
  const times = {
    start: seconds
      .optional()
      .meta({ description: `Time at which the ${what} appears, in seconds of the output.`, default: 0 }),
    end: seconds.optional().meta({
      description: `Time at which the ${what} disappears, in seconds of the output; by default it stays to the end.`,
    }),
  };
  return closed({ ...shape, ...times }, "field", of).superRefine((drawing, report) =>
    checkTimes(Object(drawing), report),
  );
}

/** Creates the schema of a whole number within bounds. */
export function wholeWithin({ min, max }: Bounds, what = "a whole number") {
  return z.int(`must be ${what} from ${min} to ${max}.`).min(min).max(max);
}

/** Creates the schema of a text of 1 to `max` characters. */
export function textUpTo(max: number) {
  return z.string(`must be a text of 1 to ${max} characters.`).min(1).max(max);
}

/** Adds rules to a text: `broken` returns the first one that it breaks. */
export function ruled(text: z.ZodString, broken: (value: string) => string | null) {
  return text.superRefine((value, ctx) => {
    const message = broken(value);
    if (message !== null) ctx.addIssue({ code: "custom", message });
  });
}

const required = (what: string) => `is required: the URL ${what}.`;
const TOO_LONG = `must not be longer than ${BOUNDS.url_length.max} characters.`;
// The URL parser removes line breaks and tabs, so the text would differ from the requested URL.
const CONTROL = /\p{Cc}/u;

/** Creates the schema of the URL of an input file; `what` names the file in messages. */
export function fileUrl(what: string) {
  return ruled(
    z.string({ error: ({ input }) => (input == null ? required(what) : "must be a string.") }),
    (value) => (value === "" ? required(what) : brokenInput(value)),
  );
}

/** Schema of the URL of a source. */
export const inputUrl = fileUrl("of the source");

/** Schema of a destination, `s3://<bucket>/<key>`. */
export const s3Url = ruled(z.string("must be a string."), brokenS3);

/** Schema of a URL that receives events. The service checks separately whether it may contact the host. */
export const webhookUrl = ruled(z.string("must be a string."), brokenWebhook);

function brokenInput(value: string): string | null {
  if (value.length > BOUNDS.url_length.max) return TOO_LONG;
  if (CONTROL.test(value)) return "must not hold control characters.";
  const url = URL.parse(value);
  const schemes: readonly string[] = INPUT_SCHEMES;
  if (!url || !schemes.includes(url.protocol) || !/^[a-z0-9]+:\/\//i.test(value)) {
    return `must be a URL that starts with ${schemes.map((scheme) => `${scheme}//`).join(", ")}.`;
  }
  if (!url.hostname) return "must name a host.";
  if (url.username || url.password) return "must not hold a user name or password.";
  return url.protocol === "s3:" ? brokenS3(value) : null;
}

/** Returns the first rule of `s3://<bucket>/<key>` that a text breaks; null for none. */
export function brokenS3(value: string): string | null {
  const [, key] = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]\/(.+)$/.exec(value) ?? [];
  if (key === undefined || value.length > BOUNDS.url_length.max || CONTROL.test(value)) {
    return "must have the shape s3://<bucket>/<key>.";
  }
  const bytes = new TextEncoder().encode(key).length;
  // URLs resolve such parts, so a different key would be requested.
  const dotted = key.split("/").some((part) => part === "." || part === "..");
  if (bytes <= BOUNDS.s3_key_bytes.max && !dotted && key.isWellFormed()) return null;
  return `must have a key of up to ${BOUNDS.s3_key_bytes.max} bytes, without . or .. between slashes.`;
}

/** Returns the first rule of a webhook URL that a text breaks; null for none. */
export function brokenWebhook(value: string): string | null {
  if (value.length > BOUNDS.url_length.max) return TOO_LONG;
  if (CONTROL.test(value)) return "must not hold control characters.";
  const url = URL.parse(value);
  if (!url?.hostname || !/^https?:\/\//i.test(value)) return "must be a URL that starts with https://.";
  return url.username || url.password ? "must not hold a user name or password." : null;
}

/** Lists what formats hold: `mp4 holds h264, h265 or av1, webm holds …`. */
export function listCodecs(table: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(table)
    .map(([format, codecs]) => `${format} holds ${codecs.slice(0, -1).join(", ")} or ${codecs.at(-1)}`)
    .join(", ");
}

const { pixels, percent } = BOUNDS;
const OFFSET = `must be a whole number of pixels from 0 to ${pixels.max} or a percentage from "0%" to "100%".`;
const SIZE = `must be a whole number of pixels from ${pixels.min} to ${pixels.max} or a percentage such as "50%" (${percent.min} to ${percent.max}).`;
/** Schema of a width or a height. */
export const size = z
  .union(
    [
      z.int(SIZE).min(pixels.min).max(pixels.max),
      z
        .string(SIZE)
        .regex(/^\d{1,4}(\.\d{1,4})?%$/)
        .refine((text) => {
          const value = Number.parseFloat(text);
          return value >= percent.min && value <= percent.max;
        }),
    ],
    SIZE,
  )
  .meta({
    description:
      'Pixels, or a percentage of the displayed source such as "50%". One of width and height keeps the shape; both stretch the picture unless fit says otherwise, and either enlarges it unless enlarge is false.',
    example: 640,
  });

/** Converts a length in pixels, or a percentage of the length `of`, to pixels. */
export function toPixels(length: number | string | undefined, of: number): number | undefined {
  return typeof length === "string" ? (of * Number.parseFloat(length)) / 100 : length;
}

/** Schema of a color in hexadecimal digits, with or without opacity. */
export const hexColor = z
  .string('must be a hex color such as "#1e90ff".')
  // JSON Schema has no regex flags.
  .regex(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/);

/**
 * Converts a hex color of 3, 4, 6 or 8 digits to `0xRRGGBB`, or to `0xRRGGBBAA` when it is not opaque and `alpha` is true; otherwise
 * blends it onto black.
 */
export function parseColor(hex: string, alpha: boolean): string {
  const digits = hex.replace("#", "").toLowerCase();
  const full = digits.length < 6 ? digits.replace(/./g, "$&$&") : digits;
  const parts = [0, 2, 4].map((at) => Number.parseInt(full.slice(at, at + 2), 16));
  const opacity = full.length === 8 ? Number.parseInt(full.slice(6), 16) : 255;
  if (alpha && opacity < 255) return `0x${toHex([...parts, opacity])}`;
  return `0x${toHex(parts.map((part) => Math.round((part * opacity) / 255)))}`;
}

/** Opaque black. */
export const BLACK = "0x000000";
/** Fully transparent black. */
export const TRANSPARENT = "0x00000000";

/** Schema of the distance of an edge from the picture's left or top. */
export const offset = z
  .union(
    [z.int(OFFSET).min(0).max(pixels.max), z.string(OFFSET).regex(/^(\d{1,2}(\.\d{1,4})?|100)%$/)],
    OFFSET,
  )
  .optional()
  .meta({ default: 0 });

const POSITION = `must be one of ${POSITIONS.join(", ")}, or { x, y } in pixels or percentages of the picture.`;

/** Schema of the position of something drawn over a picture: a name, or the coordinates of its upper left corner. */
export const place = z
  .union([oneOf(POSITIONS), z.strictObject({ x: offset, y: offset })], POSITION)
  .optional();
