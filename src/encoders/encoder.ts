import type { ByteReader } from "../core/ports.ts";
import type { RefusalReason } from "../core/refusal.ts";
import type { Source } from "../core/source.ts";
import type { Tally } from "../ffmpeg/tally.ts";
import type { Chunk, Plan } from "../plan/plan.ts";

/** One file that an encode gave; adaptive video has many, the master playlist last. */
export interface EncodedFile {
  /** Path below the output's folder, such as `720p/seg_00001.m4s`; for a single file just its name. */
  name: string;
  mime: string;
  bytes: Uint8Array;
}

/** One file that an encoder on another machine has put where its job's {@link RemoteFiles} say. */
export interface WrittenFile {
  /** Path below the folder, as of an {@link EncodedFile}. */
  name: string;
  mime: string;
  /** Bytes. */
  size: number;
  /** Pictures or packets of sound in it, where it is a segment of adaptive video. */
  samples?: number | undefined;
}

/** What an encoder on another machine gave: files that are stored, and playlists, which are not and come as they are. */
export interface Written {
  written: WrittenFile[];
  playlists: EncodedFile[];
}

/** Where an encoder on another machine reads and writes. */
export interface RemoteFiles {
  /** URL of the source; it answers ranges. */
  input: { url: string; size: number; etag: string };
  /** URL of the folder, with a slash at its end; a file is put to it with its name appended. */
  folder: string;
  /** Name of the file in the folder; null for adaptive video, whose files have their own. */
  name: string | null;
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
  /** Called now and then with the share of the chunk that is done, from 0 to 1. */
  onProgress?: (share: number) => void;
  /** Called before the encode resolves with what the encoder found in the chunk's span; more than once where several encoders share the work. */
  onTally?: (tally: Tally) => void;
  /** Names the job: the same again after a restart, so that work that still goes on is found. */
  id?: string;
  /** Gives what an encoder on another machine needs; absent where the host has none. */
  remote?: () => Promise<RemoteFiles>;
}

/** Something that encodes chunks of plans. */
export interface Encoder {
  /** Short name, as shown on the step's output. */
  readonly name: string;
  /** Why it cannot do a plan within its budget; null when it can. */
  refuse(plan: Plan, source: Source): RefusalReason | null;
  /** Encodes one chunk into files, into one file that comes as a stream, or into files that it stores itself; rejects with a MediaError. */
  encode(job: ChunkJob): Promise<EncodedFile[] | ReadableStream<Uint8Array> | Written>;
}
