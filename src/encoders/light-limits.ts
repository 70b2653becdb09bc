const MIB = 1_048_576;

/** Bytes that a job's heap, input and output may take together: an isolate has 128 MB, and the code itself is in it too. */
export const LIGHT_MEMORY = 96 * MIB;

/** What the light encoder takes on, by estimate; times in seconds of its processor. */
export interface LightLimits {
  /** Bytes of heap, input and output together. */
  memory: number;
  /** For one chunk of pictures: nothing can interrupt it. */
  chunk_seconds: number;
  /** For one chunk that cannot be cut: sound, a still, adaptive video, a copy. */
  whole_seconds: number;
  /** For all chunks. */
  total_seconds: number;
  /** Seconds without a word from the encoder after which it is taken for lost. */
  silence_seconds: number;
}

/** The limits unless told otherwise. */
export const LIGHT_LIMITS: Readonly<LightLimits> = {
  memory: LIGHT_MEMORY,
  chunk_seconds: 8,
  whole_seconds: 30,
  total_seconds: 120,
  silence_seconds: 150,
};
