import { soundFilters } from "../features.ts";
import * as errors from "../ffmpeg/errors.ts";
import type { Toolset } from "../ffmpeg/toolset.ts";
import { createTrim, soundStream } from "../ffmpeg/trim.ts";
import type { AudioPlan, Chunk, Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import { isLossless } from "./audio-format.ts";
import { laterInputs, partSounds, runInputs } from "./parts-graph.ts";
import { sourceForTrack } from "./track.ts";

/** The gain that brings sound to the requested loudness. */
export interface Gain {
  decibels: number;
  /** Whether a limiter has to follow. */
  limited: boolean;
}

/** Sound that is encoded. */
export type AudioEncode = Extract<AudioPlan, { mode: "encode" }>;

// dBTP after the limiter, half a decibel low for its resampling. Lossy encoders raise peaks: MP3 by up to 1.7 dB on our test clips.
const MAX_PEAK = { lossless: -1.5, lossy: -3 } as const;
// LAME 3.100 multiplies its input by 0.95 up to 160 kbit/s, 0.97 and 0.98 at the next two (its presets.c): decibels up to a bitrate.
const LAME_LOSS = [
  [160_000, 0.45],
  [192_000, 0.26],
  [224_000, 0.18],
] as const;
// The gate of ITU-R BS.1770-4 in LUFS.
const SILENCE = -70;
// LU: a limiter lowers loudness with the peaks, so passes raise the gain until the target is near or a decibel adds too little.
const TOLERANCE = 0.2;
const MIN_SLOPE = 0.25;
const MAX_PASSES = 5;
// The layout that ffmpeg assumes for each number of channels; it mixes any other layout into it.
const LAYOUTS = ["mono", "stereo", "2.1", "4.0", "5.0", "5.1", "6.1", "7.1"] as const;
const PEAK_RATE = 192_000;

/**
 * Finds the gain of a chunk's sound, by EBU R128: yields the arguments of each run that measures it and expects that run's log, at
 * level info. Returns null without a target loudness, and for silence.
 *
 * @throws `encode_failed` when a log has no measurement, and `input_unsupported` when it has several.
 */
export function* findGain(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  input: string,
  toolset: Toolset,
): Generator<string[], Gain | null, readonly string[]> {
  const { audio } = plan;
  if (chunk.track === "video" || audio?.mode !== "encode" || audio.shape?.loudness === undefined) return null;
  const target = audio.shape.loudness + lossOf(audio);
  const cut = createTrim(plan, chunk, source);
  const runs = runInputs(plan, chunk, source);
  const tracks = (filters: readonly string[]) =>
    runs.length > 0
      ? ["-filter_complex", partSounds(plan, runs, source, audio, filters), "-map", "[sound]"]
      : ["-map", soundStream(plan), "-filter:a", [...cut.audio, ...soundFilters(cut), ...filters].join(",")];
  const runWith = (gain: Gain | null) => [
    "-loglevel",
    "info",
    ...(runs[0]?.seek ?? cut.seek),
    ...toolset.input,
    "-i",
    input,
    ...laterInputs(runs, input, toolset.input),
    ...tracks([
      ...mixFilters(audio, sourceForTrack(source, plan)),
      ...gainFilters(audio, gain),
      "ebur128=peak=true:framelog=verbose",
    ]),
    "-c:a",
    "pcm_s16le",
    "-f",
    "null",
    "-",
  ];
  const original = readLoudness(yield runWith(null));
  if (original.integrated <= SILENCE) return null;
  const decibels = target - original.integrated;
  let gain: Gain = { decibels, limited: original.peak + decibels > peakOf(audio) };
  let before = { decibels: 0, integrated: original.integrated };
  for (let pass = 1; gain.limited && pass < MAX_PASSES; pass++) {
    const { integrated } = readLoudness(yield runWith(gain));
    const missing = target - integrated;
    if (Math.abs(missing) < TOLERANCE) break;
    const slope = (integrated - before.integrated) / (gain.decibels - before.decibels);
    before = { decibels: gain.decibels, integrated };
    const step = missing / Math.max(MIN_SLOPE, Math.min(1, slope || 1));
    gain = { ...gain, decibels: gain.decibels + step };
  }
  return gain;
}

/** Returns the filters of a source's sound; `gain` comes from {@link findGain}. */
export function audioFilterChain(audio: AudioEncode, source: Source, gain: Gain | null): string[] {
  const { loudness, volume, fade_in, fade_out } = audio.shape ?? {};
  return [
    ...(loudness === undefined && !mixesDown(audio, source) ? [] : mixFilters(audio, source)),
    ...gainFilters(audio, gain),
    ...(volume === undefined ? [] : [`volume=${volume}`]),
    ...(fade_in === undefined ? [] : [`afade=t=in:d=${fade_in}`]),
    ...(fade_out ? [`afade=t=out:st=${fade_out.at}:d=${fade_out.seconds}`] : []),
  ];
}

const PEAK = /^\s*Peak:\s+(-?[\d.]+|-inf) dBFS/;

function readLoudness(log: readonly string[]): { integrated: number; peak: number } {
  // ffmpeg rebuilds the graph where the sound changes, and each graph measures only its part.
  if (log.filter((line) => PEAK.test(line)).length > 1) throw errors.loudnessChanges();
  const read = (pattern: RegExp) => {
    const line = log.findLast((text) => pattern.test(text));
    const [, text = ""] = pattern.exec(line ?? "") ?? [];
    if (!line) throw errors.loudnessUnmeasured();
    return text === "-inf" ? Number.NEGATIVE_INFINITY : Number(text);
  };
  return {
    integrated: read(/^\s*I:\s+(-?[\d.]+|-inf) LUFS/),
    peak: read(PEAK),
  };
}

function gainFilters(audio: AudioEncode, gain: Gain | null): string[] {
  if (!gain) return [];
  const volume = `volume=${gain.decibels.toFixed(2)}dB`;
  if (!gain.limited) return [volume];
  const limit = (10 ** (peakOf(audio) / 20)).toFixed(4);
  return [
    volume,
    `aresample=${PEAK_RATE}`,
    `alimiter=limit=${limit}:level=0:attack=1:release=50:latency=1`,
    `aresample=${audio.sample_rate}`,
  ];
}

/** Returns whether sound of more than two channels keeps its source's layout. */
export function keepsLayout({ channels }: AudioEncode, source: Source): boolean {
  return channels > 2 && source.audio?.channels === channels;
}

// Mixing changes the loudness, so it comes first.
function mixFilters(audio: AudioEncode, source: Source): string[] {
  const layout = keepsLayout(audio, source) ? undefined : LAYOUTS[audio.channels - 1];
  if (!layout) return [];
  return [...(mixesDown(audio, source) ? [MIX_DOWN] : []), `aformat=channel_layouts=${layout}`];
}

// By default, ffmpeg normalizes the matrix only when it mixes integers, so encoders that take floats would clip and play louder.
const MIX_DOWN = "aresample=rematrix_maxval=1";

function mixesDown({ channels }: AudioEncode, source: Source): boolean {
  return channels < (source.audio?.channels ?? 0);
}

function peakOf(audio: AudioEncode): number {
  return MAX_PEAK[isLossless(audio.codec) ? "lossless" : "lossy"] + lossOf(audio);
}

function lossOf({ codec, bitrate }: AudioEncode): number {
  if (codec !== "mp3" || bitrate === null) return 0;
  return LAME_LOSS.find(([max]) => bitrate <= max)?.[1] ?? 0;
}
