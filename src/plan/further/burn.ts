import { furtherInputs } from "../../core/further/further-inputs.ts";
import type { VideoOptions } from "../../core/options.ts";

export type SubtitlesAsked = Pick<VideoOptions, "subtitles">;

/** Subtitles that are drawn into the sized pictures. */
export interface Burn {
  /** Index of their text among the plan's further files; that of their font is the next. */
  file: number;
}

/** Returns the index of the burnt-in subtitles among a request's further inputs; null without any. */
export function burntInput(options: SubtitlesAsked): number | null {
  const at = (options.subtitles ?? []).findIndex(({ burn }) => burn);
  return at < 0 ? null : firstSubtitles(options) + at;
}

/** Returns the index of the first file of subtitles among a request's further inputs. */
export function firstSubtitles(options: object): number {
  return furtherInputs({ options }).findIndex(({ role }) => role === "subtitles");
}

/** Plans the burnt-in subtitles of a video; nothing without any. */
export function planBurn(options: SubtitlesAsked): { burn?: Burn } {
  // Encoders read the files of all other options before these.
  return burntInput(options) === null ? {} : { burn: { file: firstSubtitles(options) } };
}
