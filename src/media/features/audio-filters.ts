import { z } from "zod";
import { changesDefault, type OptionValues, option, optionGroup } from "../feature.ts";
import { issue, type Report, within } from "../fields.ts";
import { BOUNDS } from "../formats.ts";
import { mainStream } from "../main-tracks.ts";
import * as errors from "../plan-errors.ts";
import type { SourceFacts } from "../source-facts.ts";
import { audioCodec, audioFormat, SOUND_KINDS } from "./audio-format.ts";
import { track } from "./track.ts";

/** Default of `target_lufs` in LUFS: the loudness of most streaming services and podcasts. */
export const TARGET_LUFS = -16;

const LOUDNESS_NAMES: Readonly<Record<number, string>> = {
  [-14]: "Music: -14 LUFS",
  [TARGET_LUFS]: "Speech and podcasts: -16 LUFS",
  [-23]: "Television: -23 LUFS",
};

/** Options of loudness, fades and muting. */
export const audioFilters = optionGroup({
  options: {
    volume: option({
      kinds: SOUND_KINDS,
      schema: within(BOUNDS.volume, "a factor").optional().meta({
        description:
          "Factor of the amplitude: 0.5 lowers the sound by 6 dB; 2 raises it by 6 dB and may clip.",
        default: 1,
      }),
      default: 1,
      control: "number",
      placed: true,
      words: { label: "Volume", hint: () => "0.5 is 6 dB softer, 2 is 6 dB louder and may clip." },
    }),
    normalize: option({
      kinds: SOUND_KINDS,
      schema: z.boolean("must be true or false.").optional().meta({
        description:
          "Measures the loudness of the whole output by EBU R128 and sets it to target_lufs; peaks stay below -1 dBTP, with a limiter if necessary.",
        default: false,
      }),
      default: false,
      alone: true,
      placed: true,
      words: { label: "Loudness" },
    }),
    target_lufs: option({
      kinds: SOUND_KINDS,
      schema: within(BOUNDS.target_lufs, "a loudness in LUFS")
        .optional()
        .meta({ description: "Target loudness of normalize, in LUFS.", default: TARGET_LUFS }),
      alone: true,
      placed: true,
      choices: [-14, TARGET_LUFS, -23],
      words: {
        label: "Loudness",
        choice: (lufs = TARGET_LUFS) => LOUDNESS_NAMES[lufs] ?? "Custom",
        hint: () => "Measured by EBU R128; peaks are kept from clipping.",
      },
    }),
    fade_in: option({
      kinds: SOUND_KINDS,
      schema: within(BOUNDS.fade, "a number of seconds")
        .optional()
        .meta({ description: "Seconds in which the sound fades in at the start.", default: 0 }),
      default: 0,
      control: "number",
      placed: true,
      words: { label: "Fade in", unit: "seconds", empty: "none" },
    }),
    fade_out: option({
      kinds: SOUND_KINDS,
      schema: within(BOUNDS.fade, "a number of seconds")
        .optional()
        .meta({ description: "Seconds in which the sound fades out at the end.", default: 0 }),
      default: 0,
      control: "number",
      placed: true,
      words: { label: "Fade out", unit: "seconds", empty: "none" },
    }),
    mute: option({
      kinds: ["video", "adaptive_video"],
      schema: z
        .boolean("must be true or false.")
        .optional()
        .meta({ description: "Leaves the sound out.", default: false }),
      default: false,
      copyable: true,
      placed: true,
      words: { label: "Mute" },
    }),
  },
});

/** The options of the filters, as parsed. */
export type AudioFilterOptions = OptionValues<typeof audioFilters.options>;

const { mute: _, ...FILTERS } = audioFilters.options;
const SOUND = { ...track.options, ...audioFormat.options, ...FILTERS, ...audioCodec.options };

/** Checks that no two options of sound contradict each other. */
export function checkAudioFilters(
  options: OptionValues<typeof SOUND> & { mute?: boolean | undefined },
  report: Report,
): void {
  const { normalize, target_lufs, volume, mute } = options;
  if (target_lufs !== undefined && !normalize) {
    report.addIssue(issue("target_lufs", "needs normalize: true."));
  }
  if (normalize && changesDefault(FILTERS.volume, volume)) {
    const whole = "options.volume and options.normalize cannot both be given.";
    report.addIssue(issue("volume", "cannot be given together with normalize.", whole));
  }
  const names = Object.keys(SOUND) as (keyof typeof SOUND)[];
  const conflict = names.find((name) => changesDefault(SOUND[name], options[name]));
  if (mute && conflict) {
    const whole = `options.mute and options.${conflict} cannot both be given.`;
    report.addIssue(issue(conflict, "cannot be given for a video without sound.", whole));
  }
}

const seconds = z.number().min(0).max(1e7);
/** Changes to the audio, applied in the order of the fields; times count from the start of the output. */
export const AudioFilters = z.strictObject({
  /** Target of the integrated loudness in LUFS; absent leaves it unchanged. */
  loudness: z.number().min(-70).max(0).exactOptional(),
  volume: z.number().min(0).max(100).exactOptional(),
  fade_in: seconds.exactOptional(),
  fade_out: z.strictObject({ at: seconds, seconds }).exactOptional(),
});
/** Changes to the audio. */
export interface AudioFilters extends z.infer<typeof AudioFilters> {}

/** Start of the output in the source, and duration of the output, in seconds; null when unknown. */
interface Range {
  start: number;
  duration: number | null;
  /** The ranges of the source in the order of the output, and where each one begins there; absent for a single one. */
  parts?: readonly { start: number; end: number; at: number }[];
}

/**
 * Plans the changes to the audio; null for none.
 *
 * @throws `invalid_options` when the fades are longer than the output, or its end is unknown.
 */
export function planAudioFilters(
  options: AudioFilterOptions,
  source: SourceFacts,
  range: Range,
  speed = 1,
): AudioFilters | null {
  const { volume = 1, fade_in = 0, fade_out = 0 } = options;
  const filters: AudioFilters = {
    ...(options.normalize && { loudness: options.target_lufs ?? TARGET_LUFS }),
    ...(volume !== 1 && { volume }),
    ...(fade_in > 0 && { fade_in }),
    ...(fade_out > 0 && { fade_out: planFadeOut(fade_out, source, range, speed) }),
  };
  const { duration } = range;
  if (duration !== null && fade_in + fade_out > duration) {
    const name = fade_in > duration ? "fade_in" : fade_out > 0 ? "fade_out" : "fade_in";
    throw errors.fadeTooLong({ name, duration });
  }
  return Object.keys(filters).length > 0 ? filters : null;
}

function planFadeOut(seconds: number, source: SourceFacts, range: Range, speed: number) {
  const { start, duration, parts = [{ start, end: Number.POSITIVE_INFINITY, at: 0 }] } = range;
  if (duration === null) throw errors.fadeEndUnknown({ name: "fade_out" });
  const last = mainStream(source, "audio")?.end ?? Number.POSITIVE_INFINITY;
  const lastPart = parts.findLast((part) => part.start < last) ?? { start, end: start, at: 0 };
  const end = Math.min(duration, lastPart.at + (Math.min(lastPart.end, last) - lastPart.start) / speed);
  return { at: Number(Math.max(0, end - seconds).toFixed(6)), seconds };
}
