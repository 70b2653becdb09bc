import type { ByteReader, Durably, Storage } from "../../core/ports.ts";
import type { Counts, Source } from "../../core/source.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Encoder, RemoteFiles } from "../encoder.ts";
import type { EncodeProgress } from "./encode-progress.ts";

/** What an encode is run with. */
export interface EncodeRun {
  /** Start of the names of its jobs: a job's id is this, `-` and the index of its chunk, so that the same work is found after a restart. */
  id: string;
  plan: Plan;
  source: Source;
  /** Opens the source for random access; called once for each chunk. */
  input(): Promise<ByteReader>;
  encoder: Encoder;
  /** Chunks that are encoded at once, at most. */
  max_in_flight: number;
  /** What encoders on other machines read, and where they write below a start of keys; absent where there are none. */
  remote?: {
    input(): Promise<RemoteFiles["input"]>;
    folder(key_prefix: string): Promise<string>;
  };
  storage: Storage;
  /** Start of the keys of encoded chunks, until they are stitched; with a slash at its end. */
  work: string;
  /** Start of the keys of the output, with a slash at its end. */
  out: string;
  /** Name of the output without its extension; adaptive video keeps its own names. */
  name: string;
  durably: Durably;
  /** Is told percent done, or null now and then while the work waits for a free encoder. */
  progress(percent: number | null): Promise<void>;
  signal?: AbortSignal | undefined;
}

/** The files of an output. */
export interface OutputFiles {
  /** The file to open: the only one, or the master playlist. */
  key: string;
  /** Files in all. */
  files: number;
  /** Bytes of all files. */
  size: number;
}

/** What an encode returns. */
export interface EncodeResult extends OutputFiles {
  /** What its source holds and what came out; empty for stills. */
  counts: Counts;
}

/** A run with what its pieces share. */
export interface Encoding extends EncodeRun {
  told: EncodeProgress;
  /** Aborts when the run is over, or another chunk of it has failed. */
  stopped: AbortSignal;
}
