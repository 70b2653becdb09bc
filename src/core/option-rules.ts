import { defaultValues } from "../media/features.ts";
import { issue, type Report } from "./fields.ts";
import { DEFAULT_FORMAT, type Fit, FORMATS, type VideoCodec, type VideoFormat } from "./formats.ts";

/** Checks that the format can hold the codec. */
export function checkCodec(
  {
    format = DEFAULT_FORMAT.video,
    codec,
  }: { format?: VideoFormat | undefined; codec?: VideoCodec | undefined },
  report: Report,
): void {
  const codecs: readonly string[] = FORMATS.video[format].codecs;
  if (codec === undefined || codecs.includes(codec)) return;
  report.addIssue(issue("codec", `${format} cannot hold ${codec} here; use ${codecs.join(", ")}.`, true));
}

/** Checks that only one option decides the rate. */
export function checkRate(
  { bitrate, target_size }: { bitrate?: number | undefined; target_size?: number | undefined },
  report: Report,
): void {
  if (bitrate === undefined || target_size === undefined) return;
  const whole = "options.target_size and options.bitrate cannot both be given.";
  report.addIssue(issue("target_size", "cannot be given together with a bitrate.", whole));
}

/** Checks that `fit` and `background` come with both sides, and `background` with the fit that needs it. */
export function checkFrame(
  {
    width,
    height,
    fit,
    background,
  }: {
    width?: unknown;
    height?: unknown;
    fit?: Fit | undefined;
    background?: string | undefined;
  },
  report: Report,
): void {
  if (background !== undefined && (fit ?? "contain") !== "contain") {
    report.addIssue(issue("background", `needs fit "contain", not "${fit}".`));
  }
  if ((fit !== undefined || background !== undefined) && (width === undefined || height === undefined)) {
    report.addIssue(issue(fit === undefined ? "background" : "fit", "needs both width and height."));
  }
}

// The values that ask for nothing, as a form sends them for what was left alone.
const USUAL: Readonly<Record<string, unknown>> = {
  start: 0,
  ...defaultValues(),
  track: 0,
  volume: 1,
  normalize: false,
  mute: false,
  fade_in: 0,
  fade_out: 0,
};

/** Returns whether an option asks for something: whether it is given, with another value than its default. */
export function asksFor(name: string, value: unknown): boolean {
  return value !== undefined && value !== USUAL[name];
}

// What a copy leaves as it is.
const COPYABLE: ReadonlySet<string> = new Set([
  ...["mode", "format", "codec", "start", "end", "track", "mute", "concat", "subtitles", "metadata"],
]);

/** Checks that nothing asks for an encode where a copy is asked for. */
export function checkCopy(options: { mode?: string | undefined }, report: Report): void {
  if (options.mode !== "copy") return;
  for (const [name, value] of Object.entries(options)) {
    if (!asksFor(name, value) || COPYABLE.has(name)) continue;
    const whole = `options.${name} needs an encode, which options.mode "copy" rules out.`;
    report.addIssue(issue(name, "cannot be given for a copy.", whole));
  }
}

/** Checks that I-frame playlists, which DASH does not have, are asked of HLS. */
export function checkIFrames(
  { format, i_frames }: { format?: string | undefined; i_frames?: boolean | undefined },
  report: Report,
): void {
  if (i_frames && format === "dash") report.addIssue(issue("i_frames", 'needs format "hls" or "hls_dash".'));
}

/** Checks that the end comes after the start. */
export function checkSpan(
  { start = 0, end }: { start?: number | undefined; end?: number | undefined },
  report: Report,
): void {
  if (end === undefined || end > start) return;
  const whole = `options.end (${end}) must be after options.start (${start}).`;
  report.addIssue(issue("end", `must be after the start (${start}).`, whole));
}
