import type { Source } from "../../core/source.ts";
import { extraBytes } from "../../media/extra-inputs.ts";
import type { Chunk, Plan } from "../../plan/plan.ts";
import { MIB } from "../../util/bytes.ts";

/** Limit in bytes on a job's heap, input and output together: an isolate has 128 MB, which the code shares. */
export const LIGHT_MEMORY = 96 * MIB;

/** Limits on input in bytes: a probe may read all of a picture up to `image`; more than `most` is never held. */
export const LIGHT_INPUT = { image: 32 * MIB, most: 40 * MIB } as const;

/** What the light encoder accepts, by estimate; times are seconds of its processor. */
export interface LightLimits {
  memory: number;
  /** For one chunk of pictures of a plan that can be cut; nothing can interrupt a chunk. */
  chunkSeconds: number;
  /** For one uninterrupted job, whether or not the plan is cut. */
  pieceSeconds: number;
  /** For all chunks of a plan. */
  totalSeconds: number;
  /** Seconds of silence after which the encoder counts as lost; wasm takes several times longer until it is optimized. */
  silenceSeconds: number;
  /** Seconds for which a lost encoder is awaited before its loss is reported, so that another attempt finds it again. */
  awaySeconds: number;
}

export const LIGHT_LIMITS: Readonly<LightLimits> = {
  memory: LIGHT_MEMORY,
  chunkSeconds: 8,
  pieceSeconds: 30,
  totalSeconds: 120,
  silenceSeconds: 300,
  awaySeconds: 0,
};

/** Seconds from the keyframe before a chunk to its start: `most` in nearly all files, `usual` in many. */
const KEYFRAME = { most: 9, usual: 4 } as const;

/** Bytes of a chunk's stretch of a file, including those from the keyframe before it and an allowance for an uneven bitrate. */
export function stretchBytes(
  size: number,
  plan: Plan,
  source: Source,
  chunk: Chunk,
  keyframe: keyof typeof KEYFRAME,
): number {
  const { duration } = source;
  if (!duration) return size;
  const from = chunk.decode_from ?? Math.max(0, chunk.start - KEYFRAME[keyframe]);
  const one = plan.image !== null && !plan.image.animated;
  const end = one ? chunk.start : (chunk.end ?? duration);
  const seconds = Math.min(end, duration) - from + 1;
  return Math.min(size, Math.ceil((size * seconds * UNEVEN) / duration));
}

/** The longest chunk, in seconds, for which at most `bytes` of its file are in memory; the inverse of {@link inputBytes}. */
export function stretchSeconds(bytes: number, size: number, duration: number): number {
  return ((bytes - TABLES - TABLES_A_SECOND * duration) * duration) / (size * UNEVEN) - KEYFRAME.most - 1;
}

/**
 * Bytes of a file of `size` held in memory while a chunk is encoded: all of it, a stretch and the file's tables, or its
 * sound; with the further files.
 */
export function heldBytes(size: number, plan: Plan, chunk: Chunk, source: Source): number {
  const input = soundBytes(size, plan, chunk, source) ?? inputBytes(size, plan, source, chunk);
  return input + extraBytes(plan, chunk);
}

/**
 * Bytes of sound to extract from a file of `size` for a chunk that needs sound alone; null when extracting is not worth it.
 * Pictures and sound are interleaved, so without extraction a core would have to hold the whole file to read the sound.
 */
export function soundBytes(size: number, plan: Plan, chunk: Chunk, source: Source): number | null {
  const { audio, duration, codecs, format } = source;
  // The first track alone is extracted.
  if (plan.sound_track || chunk.sound || plan.concat) return null;
  const alone = plan.kind === "audio" || plan.kind === "waveform" || chunk.track === "audio";
  if (!alone || !codecs?.video || !audio || !duration || size <= SMALL) return null;
  if (!/^(mp4|mov|matroska|webm)$/.test(format) || codecs.audio === "opus") return null;
  const bytes = Math.ceil((soundRate(source) * duration * 1.1) / 8);
  return bytes <= MOST_SOUND && bytes < size ? bytes : null;
}

/** Bits per second of a source's sound; an estimate where the source does not state it. */
export function soundRate({ audio, codecs, streams }: Source): number {
  const known = streams?.find(({ kind }) => kind === "audio")?.bitrate;
  if (known !== undefined || !audio) return known ?? 0;
  return /^(pcm|flac|alac)/.test(codecs?.audio ?? "") ? audio.channels * audio.sample_rate * 32 : LOSSY;
}

/** Bytes of a file of `size` that the core reads for a chunk: all of it, or a stretch and the file's tables. */
export function inputBytes(size: number, plan: Plan, source: Source, chunk: Chunk): number {
  const stretch = stretchBytes(size, plan, source, chunk, "most");
  return size <= SMALL ? size : Math.min(size, stretch + TABLES + TABLES_A_SECOND * (source.duration ?? 0));
}

const SMALL = 4 * MIB;
// Allowances for a file's tables (in MP4 some 20 bytes a picture and 8 a packet of sound), and for a stretch above the average
// bitrate.
const TABLES = 2 * MIB;
const TABLES_A_SECOND = 1000;
const UNEVEN = 1.1;
const MOST_SOUND = 16 * MIB;
// Bits per second assumed for lossy sound of unknown bitrate; more is rare.
const LOSSY = 384_000;
