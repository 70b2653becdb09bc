import type { z } from "zod";
import { type ErrorKind, MediaError } from "./errors.ts";
import { BOUNDS, FITS, FORMATS, POSITIONS, QUALITIES, type StepKind, VIDEO_CODECS } from "./formats.ts";
import { OPTIONS } from "./options.ts";
import { clip, invalid } from "./parse-object.ts";
import { METADATA_MODES } from "./tags.ts";

const size = `must be a whole number of pixels from ${BOUNDS.pixels.min} to ${BOUNDS.pixels.max} or a percentage such as "50%" (${BOUNDS.percent.min} to ${BOUNDS.percent.max}).`;
const span = `must be a number of seconds from ${BOUNDS.seconds.min} to ${BOUNDS.seconds.max}.`;

const RIGHT: Readonly<Record<string, string>> = {
  quality: `must be one of ${QUALITIES.join(", ")}.`,
  fit: `must be one of ${FITS.join(", ")}.`,
  position: `must be one of ${POSITIONS.join(", ")}.`,
  background: 'must be a hex color such as "#1e90ff".',
  width: size,
  height: size,
  start: span,
  end: span,
  metadata: `must be one of ${METADATA_MODES.join(", ")}.`,
  target_size: `must be a whole number of bytes from ${BOUNDS.target_size.min} to ${BOUNDS.target_size.max}.`,
  fps: `must be a number from ${BOUNDS.fps.min} to ${BOUNDS.fps.max}.`,
};

/** Validates the options of a kind, each alone and all together; throws a {@link MediaError} for the first fault. */
export function checkOptions(kind: StepKind, value: unknown): Record<string, unknown> {
  const given = value ?? {};
  if (typeof given !== "object" || Array.isArray(given)) {
    throw invalid("options", "must be an object.");
  }
  const parsed = OPTIONS[kind].safeParse(given);
  const fault = parsed.success ? undefined : worst(parsed.error.issues);
  if (fault) throw toError(kind, fault, given as Record<string, unknown>);
  const options = parsed.data as Record<string, unknown>;
  checkCodec(kind, options);
  checkRate(options);
  checkFrame(options);
  checkSpan(options);
  return options;
}

// Format and codec come first; an unknown field is named last, as another fault often explains it.
function worst(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const order = ["format", "codec"];
  const rank = (issue: z.core.$ZodIssue) => {
    if (issue.code === "unrecognized_keys") return order.length + 1;
    const place = order.indexOf(String(issue.path[0]));
    return place < 0 ? order.length : place;
  };
  return issues.toSorted((a, b) => rank(a) - rank(b))[0];
}

function toError(kind: StepKind, issue: z.core.$ZodIssue, given: Record<string, unknown>): MediaError {
  if (issue.code === "unrecognized_keys") {
    const key = clip(issue.keys[0] ?? "");
    const known = Object.keys(OPTIONS[kind].shape).join(", ") || "none";
    return new MediaError(
      "request_invalid",
      `Unknown option ${JSON.stringify(key)} for ${kind}; the options are: ${known}.`,
      {
        param: `options.${key}`,
      },
    );
  }
  const key = String(issue.path[0] ?? "");
  const param = `options.${key}`;
  const error = (kind: ErrorKind, rule: string) => invalid(param, rule, kind);
  if (given[key] === undefined) return error("invalid_options", "is required.");
  const wrongType = isWrongType(kind, key, given[key]);
  if (key === "format") {
    const formats = Object.keys(FORMATS[kind as keyof typeof FORMATS]).join(", ");
    return error(wrongType ? "request_invalid" : "invalid_format", `must be one of ${formats} for ${kind}.`);
  }
  if (key === "codec") {
    return error(
      wrongType ? "request_invalid" : "invalid_codec",
      `must be one of ${VIDEO_CODECS.join(", ")}.`,
    );
  }
  return error(wrongType ? "request_invalid" : "invalid_options", RIGHT[key] ?? bitrateRule(kind, key));
}

function isWrongType(kind: StepKind, key: string, value: unknown): boolean {
  if (key === "width" || key === "height") return typeof value !== "number" && typeof value !== "string";
  const numeric = ["fps", "bitrate", "target_size", "start", "end"].includes(key);
  return typeof value !== (numeric ? "number" : "string") || !(key in OPTIONS[kind].shape);
}

function bitrateRule(kind: StepKind, key: string): string {
  if (key !== "bitrate") return "must be a string.";
  const bounds = kind === "audio" ? BOUNDS.audio_bitrate : BOUNDS.video_bitrate;
  return `must be a whole number of bits per second from ${bounds.min} to ${bounds.max}.`;
}

function checkCodec(kind: StepKind, options: Record<string, unknown>): void {
  if (kind !== "video") return;
  const format = (options.format ?? "mp4") as keyof typeof FORMATS.video;
  const codecs: readonly string[] = FORMATS.video[format].codecs;
  const codec = options.codec;
  if (codec === undefined || codecs.includes(String(codec))) return;
  throw new MediaError("invalid_codec", `${format} cannot hold ${codec} here; use ${codecs.join(", ")}.`, {
    param: "options.codec",
  });
}

function checkRate({ bitrate, target_size }: Record<string, unknown>): void {
  if (bitrate === undefined || target_size === undefined) return;
  const param = "options.target_size";
  const message = `${param} and options.bitrate cannot both be given.`;
  const reason = { code: "field", field: param, rule: "cannot be given together with a bitrate." } as const;
  throw new MediaError("invalid_options", message, { param, reason });
}

function checkFrame(options: Record<string, unknown>): void {
  const { width, height, fit, background } = options;
  if (background !== undefined && (fit ?? "contain") !== "contain") {
    const rule = `needs fit "contain", not ${JSON.stringify(fit)}.`;
    throw invalid("options.background", rule, "invalid_options");
  }
  const param = fit === undefined ? "options.background" : "options.fit";
  if ((fit !== undefined || background !== undefined) && (width === undefined || height === undefined)) {
    throw invalid(param, "needs both width and height.", "invalid_options");
  }
}

function checkSpan(options: Record<string, unknown>): void {
  const { start = 0, end } = options as { start?: number; end?: number };
  if (end !== undefined && end <= start) {
    const param = "options.end";
    const message = `${param} (${end}) must be after options.start (${start}).`;
    const reason = { code: "field", field: param, rule: `must be after the start (${start}).` } as const;
    throw new MediaError("invalid_options", message, { param, reason });
  }
}
