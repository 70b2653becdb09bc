import type { ErrorKind } from "../../core/errors.ts";
import type { Source } from "../../core/source.ts";
import type { Tally } from "../../ffmpeg/tally.ts";
import type { Toolset } from "../../ffmpeg/toolset.ts";
import type { Chunk, Plan } from "../../plan/plan.ts";
import type { LoadedCore } from "../core/core-load.ts";
import type { EncodedFile } from "../encoder.ts";
import type { FfprobeReport } from "../light/light-probe.ts";

/** What an encoder worker is asked to do with a file. */
export type EncoderWork =
  | {
      kind: "encode";
      plan: Plan;
      chunk: Chunk;
      source: Source;
      tools: Toolset;
      /** Bytes that the heap and the output may take together. */
      memory: number;
    }
  | { kind: "probe"; memory: number };

/**
 * Messages to an encoder worker: the core first, then work, one piece at a time. `life` is a URL that answers for as long as the
 * worker is wanted: it receives no message while its core runs. `end` terminates the threads of its core.
 */
export type ToEncoderWorker =
  | { core: LoadedCore; life: string }
  | { work: EncoderWork; file: Blob }
  | { end: true };

/** What came of a piece of work. */
export interface WorkDone {
  report: FfprobeReport | null;
  files: EncodedFile[];
  tally: Tally;
  /** Bytes of the core's heap, which never shrinks. */
  heap: number;
}

/** What an encoder worker says: signs of life, with the time of output in seconds where ffmpeg told it, and at last how the work ended. */
export type FromEncoderWorker =
  | { state: "alive"; seconds: number | null }
  | ({ state: "done" } & WorkDone)
  | {
      state: "error";
      kind: ErrorKind;
      message: string;
      retryable: boolean;
      /** Whether the core itself broke down, so that a fresh one may do better. */
      broken: boolean;
    };
