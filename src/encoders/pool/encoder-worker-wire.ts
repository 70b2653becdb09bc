import type { ErrorKind } from "../../core/errors.ts";
import type { Source } from "../../core/source.ts";
import type { Tally } from "../../ffmpeg/tally.ts";
import type { Toolset } from "../../ffmpeg/toolset.ts";
import type { Chunk, Plan } from "../../plan/plan.ts";
import type { LoadedCore } from "../core/core-load.ts";
import type { EncodedFile } from "../encoder.ts";
import type { FfprobeReport } from "../light/light-probe.ts";

/** A job for an encoder worker. */
export type EncoderWork =
  | {
      kind: "encode";
      plan: Plan;
      chunk: Chunk;
      source: Source;
      tools: Toolset;
      /** Limit in bytes on heap and output together. */
      memory: number;
    }
  | { kind: "probe"; memory: number };

/**
 * Messages to an encoder worker: first the core, then jobs, one at a time. `life` is a URL that resolves for as long as the
 * worker is needed, because a running core blocks messages. `end` terminates the threads of its core, then the worker.
 */
export type ToEncoderWorker =
  | { core: LoadedCore; life: string }
  | { work: EncoderWork; files: readonly [Blob, ...Blob[]] }
  | { end: true };

/** A file that a core wrote; `front` comes before its bytes, where it was too large to stay in memory. */
export type PoolFile = EncodedFile & { front?: Blob };

export interface WorkDone {
  report: FfprobeReport | null;
  files: PoolFile[];
  tally: Tally;
  /** Bytes of the core's heap, which never shrinks. */
  heap: number;
}

/**
 * Messages from an encoder worker: signs of life, with the output time in seconds where ffmpeg reported one, and finally the
 * result.
 */
export type FromEncoderWorker =
  | { state: "alive"; seconds: number | null }
  | ({ state: "done" } & WorkDone)
  | {
      state: "error";
      kind: ErrorKind;
      message: string;
      retryable: boolean;
      /** Whether the core itself crashed, so that a fresh one may succeed. */
      broken: boolean;
    };
