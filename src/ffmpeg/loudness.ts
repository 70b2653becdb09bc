import { MediaError } from "../core/errors.ts";
import type { Source } from "../core/source.ts";
import { isLossless } from "../media/features/audio-format.ts";
import { sourceForTrack } from "../media/features/track.ts";
import { soundFilters } from "../media/features.ts";
import type { AudioPlan, Chunk, Plan } from "../plan/plan.ts";
import { createCut, soundStream } from "./span.ts";
import type { Toolset } from "./toolset.ts";

/** The gain that brings sound to the requested loudness. */
export interface Level {
  /** Decibels. */
  gain: number;
  /** Whether peaks have to be limited afterwards. */
  limited: boolean;
}

type AudioEncode = Extract<AudioPlan, { mode: "encode" }>;

// Highest true peak in dBTP that leaves the limiter, half a decibel below what is promised, for its resampling. A lossy encoder
// overshoots the peaks that it is given: MP3 by up to 1.7 dB on the clips of our tests.
const MOST_PEAK = { lossless: -1.5, lossy: -3 } as const;
// LAME 3.100 multiplies its input by 0.95 up to 160 kbit/s, 0.97 and 0.98 at the next two (its presets.c): decibels up to a bitrate.
const LAME_LOSS = [
  [160_000, 0.45],
  [192_000, 0.26],
  [224_000, 0.18],
] as const;
// The gate of ITU-R BS.1770-4 in LUFS; what is below is no sound to raise.
const SILENCE = -70;
// A limiter takes loudness away with the peaks, so the gain is raised until the target is this near, in LU, or out of reach. The
// loudness that a decibel adds is known from the passes before; less than this is not worth the distortion.
const NEAR = 0.2;
const LEAST_SLOPE = 0.25;
const PASSES = 5;
// The layout that ffmpeg assumes for each number of channels; it mixes any other layout into it.
const LAYOUTS = ["mono", "stereo", "2.1", "4.0", "5.0", "5.1", "6.1", "7.1"] as const;
// True peaks lie between the samples, so both limiter and meter work on four times as many.
const PEAK_RATE = 192_000;

/**
 * Finds the level of a chunk's sound, by EBU R128: yields the arguments of each run that measures it and expects that run's log, at
 * level info; returns null where no loudness is asked for, and for silence. Throws `encode_failed` when a log has no measurement,
 * and `input_unsupported` when it has several.
 */
export function* findLevel(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  input: string,
  toolset: Toolset,
): Generator<string[], Level | null, readonly string[]> {
  const { audio } = plan;
  if (chunk.track === "video" || audio?.mode !== "encode" || audio.shape?.loudness === undefined) return null;
  const target = audio.shape.loudness + lossOf(audio);
  const cut = createCut(plan, chunk, source);
  const runWith = (level: Level | null) => [
    ...["-loglevel", "info", ...cut.seek, ...toolset.input, "-i", input, "-map", soundStream(plan)],
    "-filter:a",
    [
      ...[...cut.audio, ...soundFilters(cut)],
      ...[...mixFilters(audio, sourceForTrack(source, plan)), ...levelFilters(audio, level)],
      "ebur128=peak=true:framelog=verbose",
    ].join(","),
    ...["-c:a", "pcm_s16le", "-f", "null", "-"],
  ];
  const own = readLoudness(yield runWith(null));
  if (own.integrated <= SILENCE) return null;
  const gain = target - own.integrated;
  let level: Level = { gain, limited: own.peak + gain > peakOf(audio) };
  let before = { gain: 0, integrated: own.integrated };
  for (let pass = 1; level.limited && pass < PASSES; pass++) {
    const { integrated } = readLoudness(yield runWith(level));
    const missing = target - integrated;
    if (Math.abs(missing) < NEAR) break;
    const slope = (integrated - before.integrated) / (level.gain - before.gain);
    before = { gain: level.gain, integrated };
    level = { ...level, gain: level.gain + missing / Math.max(LEAST_SLOPE, Math.min(1, slope || 1)) };
  }
  return level;
}

/** Returns the filters that shape a source's sound; `level` is what {@link findLevel} returned. */
export function shapeFilters(audio: AudioEncode, source: Source, level: Level | null): string[] {
  const { loudness, volume, fade_in, fade_out } = audio.shape ?? {};
  return [
    ...(loudness === undefined ? [] : mixFilters(audio, source)),
    ...levelFilters(audio, level),
    ...(volume === undefined ? [] : [`volume=${volume}`]),
    ...(fade_in === undefined ? [] : [`afade=t=in:d=${fade_in}`]),
    ...(fade_out ? [`afade=t=out:st=${fade_out.at}:d=${fade_out.seconds}`] : []),
  ];
}

const PEAK = /^\s*Peak:\s+(-?[\d.]+|-inf) dBFS/;

function readLoudness(log: readonly string[]): { integrated: number; peak: number } {
  // Every graph measures for itself, and ffmpeg makes a new one where the sound changes.
  if (log.filter((line) => PEAK.test(line)).length > 1) {
    throw new MediaError(
      "input_unsupported",
      "The sound changes its channels or sample rate midway, so its loudness cannot be measured: leave out normalize.",
    );
  }
  const read = (pattern: RegExp) => {
    const line = log.findLast((text) => pattern.test(text));
    const [, text = ""] = pattern.exec(line ?? "") ?? [];
    if (!line) throw new MediaError("encode_failed", "The loudness of the sound could not be measured.");
    return text === "-inf" ? Number.NEGATIVE_INFINITY : Number(text);
  };
  return {
    integrated: read(/^\s*I:\s+(-?[\d.]+|-inf) LUFS/),
    peak: read(PEAK),
  };
}

function levelFilters(audio: AudioEncode, level: Level | null): string[] {
  if (!level) return [];
  const gain = `volume=${level.gain.toFixed(2)}dB`;
  if (!level.limited) return [gain];
  const limit = (10 ** (peakOf(audio) / 20)).toFixed(4);
  return [
    gain,
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
  return layout ? [`aformat=channel_layouts=${layout}`] : [];
}

function peakOf(audio: AudioEncode): number {
  return MOST_PEAK[isLossless(audio.codec) ? "lossless" : "lossy"] + lossOf(audio);
}

function lossOf({ codec, bitrate }: AudioEncode): number {
  if (codec !== "mp3" || bitrate === null) return 0;
  return LAME_LOSS.find(([most]) => bitrate <= most)?.[1] ?? 0;
}
