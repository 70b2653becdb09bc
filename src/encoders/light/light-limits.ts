import type { Source } from "../../core/source.ts";
import type { Chunk, Plan } from "../../plan/plan.ts";
import { MIB } from "../../util/bytes.ts";

/** Bytes that a job's heap, input and output may take together: an isolate has 128 MB, and the code itself is in it too. */
export const LIGHT_MEMORY = 96 * MIB;

/** Bytes of input: up to `image` a probe may read a picture to its end, and more than `most` are never held. */
export const LIGHT_INPUT = { image: 32 * MIB, most: 40 * MIB } as const;

/** What the light encoder takes on, by estimate; times in seconds of its processor. */
export interface LightLimits {
  /** Bytes of heap, input and output together. */
  memory: number;
  /** For one chunk of pictures, where a plan can be cut: nothing can interrupt it. */
  chunk_seconds: number;
  /** For one piece of work at the most, cut or not. */
  piece_seconds: number;
  /** For all chunks. */
  total_seconds: number;
  /** Seconds without a word from the encoder after which it is taken for lost; wasm that is not yet optimized takes several times its usual time. */
  silence_seconds: number;
}

/** The limits unless told otherwise. */
export const LIGHT_LIMITS: Readonly<LightLimits> = {
  memory: LIGHT_MEMORY,
  chunk_seconds: 8,
  piece_seconds: 30,
  total_seconds: 120,
  silence_seconds: 300,
};

/** Seconds between a chunk's start and the keyframe before it: usually at most, and in many files. */
const KEYFRAME = { most: 9, usual: 4 } as const;

/** Bytes of a chunk's stretch of a file, with those from the keyframe before it on and what an uneven rate may add. */
export function stretchBytes(
  size: number,
  source: Source,
  chunk: Chunk,
  keyframe: keyof typeof KEYFRAME,
): number {
  const { duration } = source;
  if (!duration) return size;
  const before = Math.min(chunk.start, KEYFRAME[keyframe]);
  const seconds = Math.min(chunk.end ?? duration, duration) - chunk.start + before + 1;
  return Math.min(size, Math.ceil((size * seconds * UNEVEN) / duration));
}

/** Seconds that a chunk may have so that at most so many bytes of its file lie in memory; the inverse of {@link inputBytes}. */
export function stretchSeconds(bytes: number, size: number, duration: number): number {
  return ((bytes - TABLES) * duration) / (size * UNEVEN) - KEYFRAME.most - 1;
}

/** Bytes of a file of `size` that lie in memory while a chunk is encoded: all of it, a stretch and the file's tables, or its sound. */
export function heldBytes(size: number, plan: Plan, chunk: Chunk, source: Source): number {
  return soundBytes(size, plan, chunk, source) ?? inputBytes(size, source, chunk);
}

/**
 * Bytes of the sound that a chunk needs out of a file of `size`, where it is the sound alone and taking it out first is worth
 * it; else null. Pictures and sound lie mixed in a file, so that a core that reads the sound would have to hold all of it.
 */
export function soundBytes(size: number, plan: Plan, chunk: Chunk, source: Source): number | null {
  const { audio, duration, codecs, format } = source;
  const alone = plan.kind === "audio" || chunk.track === "audio";
  if (!alone || !codecs?.video || !audio || !duration || size <= SMALL) return null;
  if (!/^(mp4|mov|matroska|webm)$/.test(format) || codecs.audio === "opus") return null;
  const bytes = Math.ceil((soundRate(source) * duration * 1.1) / 8);
  return bytes <= MOST_SOUND && bytes < size ? bytes : null;
}

/** Bits a second of a source's sound, as far as that is known. */
export function soundRate({ audio, codecs, streams }: Source): number {
  const known = streams?.find(({ kind }) => kind === "audio")?.bitrate;
  if (known !== undefined || !audio) return known ?? 0;
  return /^(pcm|flac|alac)/.test(codecs?.audio ?? "") ? audio.channels * audio.sample_rate * 32 : LOSSY;
}

/** Bytes of a file of `size` that the core reads for a chunk: all of it, or a stretch and the file's tables. */
export function inputBytes(size: number, source: Source, chunk: Chunk): number {
  const stretch = stretchBytes(size, source, chunk, "most");
  return size <= SMALL ? size : Math.min(size, stretch + TABLES);
}

const SMALL = 4 * MIB;
// What the tables of a file may take, and what a stretch may have above the average.
const TABLES = 2 * MIB;
const UNEVEN = 1.1;
const MOST_SOUND = 16 * MIB;
// Bits a second of lossy sound, where nobody says how many there are: more is rare.
const LOSSY = 384_000;
