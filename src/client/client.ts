import type {
  Connection,
  ConnectionChange,
  ConnectionRequest,
  ConnectionTest,
  ConnectionTestRequest,
  SignedRequest,
  SignRequest,
} from "../core/connection.ts";
import type { EncodeKind, StepKind } from "../core/formats.ts";
import type { OptionsOf } from "../core/options.ts";
import type { ExternalFile, Source } from "../core/source.ts";
import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";
import type { Update } from "./update.ts";

export type { Update };

/** Media given to a client: a URL (http, https or s3), or, where the client takes them, a file of the visitor. */
export type MediaInput = string | Blob | FileSystemFileHandle;

/** What a new task is made from; the options are those of its kind. */
export interface NewTask<K extends EncodeKind = EncodeKind> {
  input: MediaInput;
  kind: K;
  options?: OptionsOf<K>;
  /** Destination `s3://<bucket>/<key>`. */
  output?: string;
  metadata?: Record<string, unknown>;
}

/** What a new standalone step is made from; the options are those of its kind. */
export interface NewStep<K extends StepKind = StepKind> {
  kind: K;
  input: Source | ExternalFile | { url: string } | Blob | FileSystemFileHandle;
  options?: OptionsOf<K>;
}

/** What a list asks for; `after` and `before` are ids. */
export interface ListOptions {
  /** 1 to 100, default 20. */
  limit?: number;
  /** Newest first by default. */
  order?: "asc" | "desc";
  after?: string;
  before?: string;
  status?: string;
  kind?: string;
}

/** A page of a list, and whether more follow in the same direction. */
export interface Page<T> {
  records: T[];
  more: boolean;
}

/** The bytes of a finished run, wherever they are. */
export interface Output {
  /** The file to open: the only one, or the master playlist. */
  readonly source: Source;
  /** A URL for a media element or a download, good as long as the client is open. */
  url(): Promise<string>;
  blob(): Promise<Blob>;
  stream(): Promise<ReadableStream<Uint8Array>>;
  /** Writes the file to where the visitor chose; rejects with `storage_full` when there is no room. */
  saveTo(handle: FileSystemFileHandle): Promise<void>;
}

/** Tasks, wherever they run. Every method rejects with a {@link MediaError}. */
export interface Tasks {
  create<K extends EncodeKind>(request: NewTask<K>): Promise<Task>;
  get(id: string): Promise<Task>;
  list(options?: ListOptions): Promise<Page<Task>>;
  /** Stops the work; gives the cancelled task. Rejects with `task_finished` when there is nothing to stop. */
  cancel(id: string): Promise<Task>;
  /** Makes a new task with the request of a finished one; rejects with `task_running` while that runs. */
  retry(id: string): Promise<Task>;
  /** Removes a finished task and its output; rejects with `task_running` while it runs. */
  delete(id: string): Promise<void>;
}

/** Standalone steps, wherever they run. */
export interface Steps {
  create<K extends StepKind>(request: NewStep<K>): Promise<Step>;
  get(id: string): Promise<Step>;
  list(options?: ListOptions): Promise<Page<Step>>;
  cancel(id: string): Promise<Step>;
}

/** Credentials of S3-compatible storage that a service keeps. */
export interface Connections {
  /** Stores credentials; the secret is never given back. */
  create(request: ConnectionRequest): Promise<Connection>;
  get(id: string): Promise<Connection>;
  list(options?: Omit<ListOptions, "status">): Promise<Page<Connection>>;
  update(id: string, change: ConnectionChange): Promise<Connection>;
  /** Writes a small object, reads it back and deletes it; resolves with what came of it. */
  test(id: string, place: ConnectionTestRequest): Promise<ConnectionTest>;
  /** Signs a request to the storage, for a page that holds no keys; it is what the local client's `sign` wants. */
  sign(id: string, request: SignRequest): Promise<SignedRequest>;
  /** Removes a connection; rejects with `connection_in_use` while a run uses it. */
  delete(id: string): Promise<void>;
}

/** A task or step that is watched: itself, or its id. */
export type RunRef = Task | Step | string;

/** The one interface to tasks and steps: a page's own machine and the edge have the same. */
export interface Client {
  readonly tasks: Tasks;
  readonly steps: Steps;
  /** Calls back with how a task or step stands, then at every change until it is finished, or until the function given back is called. An unknown one is never called back about; `wait` rejects for it. */
  on<T extends Task | Step>(
    run: T | string,
    event: "update",
    listener: (update: Update<T>) => void,
  ): () => void;
  /** Resolves with the finished task or step, whatever became of it; rejects with the signal's reason when that aborts, while the run goes on. */
  wait<T extends Task | Step>(run: T | string, options?: { signal?: AbortSignal }): Promise<T>;
  /** Gives the bytes of a run that succeeded; rejects with `media_not_found` when it has none. */
  output(run: RunRef): Promise<Output>;
  /** Lets go of connections and workers; runs of the edge go on, those of the page when it is opened again. */
  close(): Promise<void>;
}

/** The client of a service, which has connections beside the rest. */
export interface RemoteClient extends Client {
  readonly connections: Connections;
}
