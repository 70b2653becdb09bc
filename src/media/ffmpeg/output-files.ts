import { containerOf, pictureFormat } from "../containers.ts";
import { pcmBits } from "../features/audio-format.ts";
import { FORMATS, LOSSLESS_FORMAT } from "../formats.ts";
import type { Chunk, Plan } from "../plan.ts";
import * as errors from "./errors.ts";

/** The output file of a chunk; for adaptive video, the master playlist. */
export interface OutputFile {
  name: string;
  mime: string;
}

/** Name of the master playlist of adaptive video. */
export const [MASTER] = FORMATS.adaptive_video.hls.manifests;

/** Name of the DASH manifest. */
export const [MANIFEST] = FORMATS.adaptive_video.dash.manifests;

/** Name of ffmpeg's master playlist for separate audio, which is merged into the main one. */
export const AUDIO_MASTER = "audio.m3u8";

export function outputFile(plan: Plan, chunk: Chunk): OutputFile {
  if (plan.kind === "adaptive_video") return { name: MASTER, mime: FORMATS.adaptive_video.hls.mime };
  if (plan.kind === "storyboard") return { name: "storyboard.vtt", mime: "text/vtt" };
  if (plan.waveform) return { name: "output.peaks", mime: "application/octet-stream" };
  const { extension, mime } = factsOf(plan);
  if (plan.image?.sheet) return { name: spriteName(plan, 0), mime };
  return chunk.track === "all"
    ? { name: `output.${extension}`, mime }
    : { name: `${chunk.track}.${extension}`, mime };
}

/** Returns the MIME type of a file of adaptive video, a storyboard or a series of stills, by its name. */
export function adaptiveMime(name: string): string {
  return MIMES[name.slice(name.lastIndexOf(".") + 1)] ?? "video/mp4";
}

const MIMES: Readonly<Record<string, string>> = {
  m3u8: FORMATS.adaptive_video.hls.mime,
  mpd: FORMATS.adaptive_video.dash.mime,
  vtt: "text/vtt",
  json: "application/json",
  jpg: FORMATS.storyboard.jpeg.mime,
  png: FORMATS.image.png.mime,
  webp: FORMATS.storyboard.webp.mime,
};

/** Returns the name of a storyboard sheet, or of one of several stills; `index` counts from 0. */
export function spriteName(plan: Plan, index: number): string {
  return spritePattern(plan).replace("%04d", String(index + 1).padStart(4, "0"));
}

/** Returns ffmpeg's pattern for those names. */
export function spritePattern(plan: Plan): string {
  return `${plan.kind === "storyboard" ? "sheet" : "still"}_%04d.${outputExtension(plan)}`;
}

/** Returns the extension of the files of a plan. */
export function outputExtension(plan: Plan): string {
  return factsOf(plan).extension;
}

/** Returns the MIME type of the output of a plan. */
export function outputMime(plan: Plan): string {
  return factsOf(plan).mime;
}

/** Returns the arguments that select the container format of a plan's output. */
export function muxerArgs(plan: Plan): string[] {
  const { muxer, large_args = [] } = containerOf(plan.waveform ? { format: LOSSLESS_FORMAT.audio } : plan);
  if (!muxer) throw errors.muxerMissing(plan);
  return [...loopArgs(plan), ...muxer, ...(mayBeLarge(plan) ? large_args : [])];
}

function loopArgs({ format, image }: Plan): string[] {
  const { loop: count } = pictureFormat(format);
  if (!count && !image?.motion) return [];
  const loop = image?.motion?.loop ?? 0;
  const repeats = loop === 1 ? -1 : Math.max(0, loop - 1);
  return ["-loop", String(count === "repetitions" ? repeats : loop)];
}

// The margin is for tags.
const MAX_BYTES = 2 ** 32 - 2 ** 24;
const MAX_COPIED = { channels: 8, sample_rate: 192_000 } as const;

function mayBeLarge({ waveform, audio, duration }: Plan): boolean {
  if (waveform) return true;
  if (!audio) return false;
  const { channels, sample_rate } = audio.mode === "encode" ? audio : MAX_COPIED;
  const bytes = ((pcmBits(audio.codec) ?? 0) / 8) * channels * sample_rate;
  return (duration ?? Number.POSITIVE_INFINITY) * bytes > MAX_BYTES;
}

function factsOf(plan: Plan): { extension: string; mime: string } {
  const facts = (FORMATS[plan.kind] as Record<string, { extension: string; mime: string }>)[plan.format];
  if (!facts) throw errors.formatUnknown(plan);
  return facts;
}
