import type { ByteReader } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import type { Chunk, Plan } from "../plan/plan.ts";

/** One file that an encode wrote; adaptive video has many, the master playlist last. */
export interface EncodedFile {
  /** Path below the output's folder, such as `720p/seg_00001.m4s`; for a single file just its name. */
  name: string;
  mime: string;
  bytes: Uint8Array;
}

/** What an encoder is given for one chunk. */
export interface ChunkJob {
  plan: Plan;
  chunk: Chunk;
  source: Source;
  input: ByteReader;
  signal: AbortSignal;
  /** Called now and then while the job waits for a free encoder, so that waiting is not taken for a stall. */
  onWait?: () => void;
}

/** Something that encodes chunks of plans. */
export interface Encoder {
  /** Short name, as shown on the step's output. */
  readonly name: string;
  /** Null when it can carry the plan out within its budget; else the reason why not, in a few plain words. */
  can(plan: Plan, source: Source): string | null;
  /** Encodes one chunk into files, or into one file that comes as a stream; rejects with a MediaError. */
  encode(job: ChunkJob): Promise<EncodedFile[] | ReadableStream<Uint8Array>>;
}
