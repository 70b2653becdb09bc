import type { PacketCounts } from "../media/ffmpeg/packet-count.ts";
import type { Chunk, Plan } from "../media/plan.ts";
import type { RefusalReason } from "../media/refusal.ts";
import type { Source } from "../media/source.ts";
import type { ByteReader } from "../runs/ports.ts";

/** An encoded file; adaptive video has many, the master playlist last. */
export interface EncodedFile {
  /** Path relative to the output folder, such as `720p/seg_00001.m4s`; for a single file, its name. */
  name: string;
  mime: string;
  bytes: Uint8Array;
}

/** A file that an encoder on another machine has stored in the folder of its job's {@link RemoteFiles}. */
export interface WrittenFile {
  /** Path relative to the folder, as in {@link EncodedFile}. */
  name: string;
  mime: string;
  /** Bytes. */
  size: number;
  /** Pictures or audio packets in it, for segments of adaptive video. */
  samples?: number | undefined;
  /** Bytes up to the end of the first sample, which for pictures is an I-frame. */
  lead?: number | undefined;
}

/** The result of an encoder on another machine: files already stored, and playlists returned inline. */
export interface Written {
  written: WrittenFile[];
  playlists: EncodedFile[];
}

/** Where an encoder on another machine reads and writes. */
export interface RemoteFiles {
  /** URL of the source; supports range requests. */
  input: { url: string; size: number; etag: string };
  /** The extra files that the chunk reads, in the plan's order; absent where it reads none. */
  further?: RemoteFiles["input"][];
  /** URL of the folder, ending in a slash; a file is PUT to it with its name appended. */
  folder: string;
  /** Name of the file in the folder; null for adaptive video, whose files have their own names. */
  name: string | null;
}

/** A batch: jobs of the same source that one decode may serve. */
export interface JobBatch {
  /** Id of the batch, shared by its jobs; at most 128 characters. */
  id: string;
  /** Number of jobs; the first waits a moment for the others. */
  size: number;
}

/** One chunk to encode. */
export interface ChunkJob {
  plan: Plan;
  chunk: Chunk;
  source: Source;
  input: ByteReader;
  /** The extra files that the chunk reads, in the plan's order; absent where it reads none. */
  extra?: readonly ByteReader[];
  signal: AbortSignal;
  /** Called from time to time while the job waits for a free encoder, so that waiting is not taken for a stall. */
  onWait?: () => void;
  /** Called from time to time with the finished share of the chunk, 0 to 1. */
  onProgress?: (share: number) => void;
  /**
   * Called with the packet counts of the chunk's span before the encode resolves, more than once when several encoders share the
   * work.
   */
  onCounts?: (tally: PacketCounts) => void;
  /** Identifies the job; the same after a restart, so that the encoder finds a job that is still running. */
  id?: string;
  /** The batch of the job; absent for none. */
  batch?: JobBatch;
  /** Returns where an encoder on another machine reads and writes; absent where the host has none. */
  remote?: () => Promise<RemoteFiles>;
}

/** Encodes chunks of plans. */
export interface Encoder {
  /** Short name, shown on the step's output. */
  readonly name: string;
  /** Returns the reason why this encoder cannot run a plan within its budget; null when it can. */
  refuse(plan: Plan, source: Source): RefusalReason | null;
  /**
   * Encodes one chunk. Resolves to its files, to one file as a stream, or to a list of files that the encoder stored itself.
   * Rejects with a MediaError.
   */
  encode(job: ChunkJob): Promise<EncodedFile[] | ReadableStream<Uint8Array> | Written>;
}
