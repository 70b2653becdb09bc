import type { ListOptions, Page } from "../client/client.ts";
import type { EncoderChoice } from "../core/choice.ts";
import type { Source } from "../core/source.ts";
import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";
import type { PresignRequest } from "../storage/s3-sign.ts";
import type { ConnectionSettings } from "./connections.ts";
import type { SignAnswer } from "./sign-requests.ts";

/** A record of either sort. */
export type Run = Task | Step;
/** Which sort of record. */
export type Sort = Run["object"];
/** A file of the visitor: its bytes, or what gives them. */
export type LocalFile = Blob | FileSystemFileHandle;

/** Where the files of ffmpeg's wasm core are, and how they are kept. */
export interface CoreFiles {
  /** URL of `ffmpeg-core.wasm`, as it is or packed with gzip. */
  wasm?: string;
  /** URL of `ffmpeg-core.js` (ESM), as it is or packed with gzip. */
  glue?: string;
  /** Name of the cache in which they are kept for the next visit; null for none. Default `framewright-core`. */
  cache?: string | null;
}

/** The same of the core with threads, which has to be named: the package does not bring it along. */
export interface ThreadedCoreFiles extends CoreFiles {
  wasm: string;
  glue: string;
  /** URL of `ffmpeg-core.worker.js`. */
  threads: string;
}

/** What the media worker is started with. */
export interface MediaSettings {
  /** Of the database and the folder. */
  name: string;
  prefer: "quality" | "speed";
  /** Encoder workers at most; null for as many as fit the machine. */
  encoder_workers: number | null;
  /** Where the files of ffmpeg's wasm core are; null for those of the package. */
  core: CoreFiles | null;
  core_mt: ThreadedCoreFiles | null;
  /** URL of the AVIF encoder's wasm; null for that of the package. */
  avif: string | null;
  /** Host of the page, on which inputs may be in any case. */
  host: string;
  /** Lets inputs be on private hosts too. */
  allow_private: boolean;
  /** Seconds after which outputs are cleared. */
  keep_seconds: number;
  /** Bytes up to which a visitor's file is copied into storage. */
  keep_input_bytes: number;
  /** S3 storage for outputs and inputs; never stored. */
  connections: ConnectionSettings[];
  /** Whether the page can create tasks elsewhere. */
  fallback: boolean;
}

/** A file that a run waits for, as its visitor knows it. */
export interface WaitingFile {
  name: string;
  /** Bytes. */
  size: number;
  /** `permission`: the browser asks the visitor again before the file may be read; `gone`: it has to be chosen again. */
  reason: "gone" | "permission";
}

/** The bytes of a run that succeeded. */
export interface RunFiles {
  source: Source;
  /** Id of the task at the fallback that did the work; null where it was done here. */
  remote: string | null;
  /** All files by their path below the output's folder. */
  files: { name: string; file: File }[];
}

/** How a run stands. */
export interface Standing {
  record: Run;
  /** The encoder that its encode was given to, where the record does not tell; null while there is none. */
  choice: EncoderChoice | null;
}

/** What the page asks of the media worker; everything rejects with a MediaError. */
export interface MediaApi {
  open(settings: MediaSettings): Promise<void>;
  create(sort: Sort, request: unknown, file: LocalFile | null): Promise<Run>;
  get(sort: Sort, id: string): Promise<Run>;
  /** Gives how a run stands, to whoever begins to watch it. */
  standing(sort: Sort, id: string): Promise<Standing>;
  list(sort: Sort, options: ListOptions): Promise<Page<Run>>;
  cancel(sort: Sort, id: string): Promise<Run>;
  retry(id: string): Promise<Task>;
  remove(id: string): Promise<void>;
  files(id: string): Promise<RunFiles>;
  waiting(id: string): Promise<WaitingFile | null>;
  /** Gives a run the file that it waits for; null where the visitor allowed the old one to be read again. */
  resume(id: string, file: LocalFile | null): Promise<Run>;
  /** The handle of a run's file, for which only the page can ask the visitor. */
  handle(id: string): Promise<FileSystemFileHandle | null>;
  /** Tells how the task at the fallback stands, or why nothing more is known of it. */
  followed(id: string, remote: Task | { error: { kind: string; message: string } }): Promise<void>;
  /** Gives what the event `sign` asked for. */
  signed(asked: number, answer: SignAnswer): Promise<void>;
}

/** What the media worker tells the page. */
export type MediaEvent =
  | ({ type: "changed" } & Standing)
  | { type: "removed"; id: string }
  /** A task has to be created at the fallback, or is there already as `remote`, and is to be followed. */
  | { type: "follow"; id: string; request: unknown; remote: string | null }
  /** A request to S3 storage has to be signed by the function of a connection. */
  | { type: "sign"; asked: number; connection: string; request: PresignRequest }
  /** The task is over here, and shall be there, where it may be known as `remote`. */
  | { type: "unfollow"; id: string; remote: string | null };
