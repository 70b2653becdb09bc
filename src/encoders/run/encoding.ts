import type { ByteReader, Durably, Storage } from "../../core/ports.ts";
import type { Counts, Source, WaveformFacts } from "../../core/source.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Encoder, RemoteFiles, TogetherJobs } from "../encoder.ts";
import type { EncodeProgress } from "./encode-progress.ts";

export interface EncodeRun {
  /**
   * Prefix of its job ids: a job's id is this, `-` and the index of its chunk, so that running jobs are found again after a
   * restart.
   */
  id: string;
  plan: Plan;
  source: Source;
  /** Opens the source for random access; called once for each chunk. */
  input(): Promise<ByteReader>;
  /** Opens the further files of the plan, once for each chunk that reads them; absent where it has none. */
  further?: () => Promise<ByteReader[]>;
  /** Opens the further input of a number, of which a text track is made; absent where the plan has none. */
  text?: (file: number) => Promise<ByteReader>;
  encoder: Encoder;
  /** The runs that may be encoded together with this one; absent for none. */
  together?: TogetherJobs;
  max_in_flight: number;
  /**
   * Access for encoders on other machines: what they read, and the URL of a folder below a key prefix. Absent where there
   * are none.
   */
  remote?: {
    input(): Promise<RemoteFiles["input"]>;
    further?: () => Promise<RemoteFiles["input"][]>;
    folder(key_prefix: string): Promise<string>;
  };
  storage: Storage;
  /** Key prefix of encoded chunks until they are stitched, ending in a slash. */
  work: string;
  /** Key prefix of the output, ending in a slash. */
  out: string;
  /** Name of the output without its extension; adaptive video keeps its own names. */
  name: string;
  /** Encrypts the segments of a plan with encryption; encoders never see it. */
  content_key?: CryptoKey | undefined;
  durably: Durably;
  /** Receives the percentage done, or null from time to time while the work waits for a free encoder. */
  progress(percent: number | null): Promise<void>;
  signal?: AbortSignal | undefined;
}

export interface OutputFiles {
  /** The file to open: the only one, or the master playlist. */
  key: string;
  files: number;
  /** Bytes of all files. */
  size: number;
  /** Indexes of the source's text streams that the plan has and the output lacks; absent when there are none. */
  lost_subtitles?: number[];
}

export interface EncodeResult extends OutputFiles {
  /** What the source holds and what the output holds; empty for stills. */
  counts: Counts;
  /** Of the kind `waveform`. */
  waveform?: WaveformFacts;
}

/** A run and the state that its chunks share. */
export interface Encoding extends EncodeRun {
  tracker: EncodeProgress;
  /** Aborts when the run is over or another of its chunks has failed. */
  stopped: AbortSignal;
}
