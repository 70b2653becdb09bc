import type { MediaError } from "../media/errors.ts";
import type { EncodeKind, StepKind } from "../media/formats.ts";
import type { ProbeOptions } from "../media/option-types.ts";
import type { Source } from "../media/source.ts";
import type { FilmstripPicture, OutputEstimate, Preview, PreviewPart, PreviewView } from "../runs/samples.ts";
import type { StepStatus } from "../runs/step.ts";
import type { TaskStatus } from "../runs/task.ts";
import type { Jobs } from "./jobs.ts";
import type { AnyMedia, MediaInput } from "./media-input.ts";
import type {
  AnyRun,
  CreateOptions,
  EachOptions,
  FilmstripOptions,
  ListOptions,
  NewPreview,
  NewSample,
  NewStep,
  NewTask,
  Page,
  PreviewOptions,
  ReadOptions,
  RecordOf,
  RunRef,
  SendOptions,
  Step,
  Task,
  WithFiles,
} from "./records.ts";
import type { Update, UploadProgress, Waiting, WaitingFile } from "./update.ts";

export type {
  AnyMedia,
  AnyRun,
  CreateOptions,
  EachOptions,
  FilmstripOptions,
  FilmstripPicture,
  ListOptions,
  MediaInput,
  NewPreview,
  NewSample,
  NewStep,
  NewTask,
  OutputEstimate,
  Page,
  Preview,
  PreviewOptions,
  PreviewPart,
  PreviewView,
  ReadOptions,
  RecordOf,
  RunRef,
  SendOptions,
  Step,
  Task,
  Update,
  UploadProgress,
  Waiting,
  WaitingFile,
  WithFiles,
};

/** How {@link Client.run} follows a run. */
export interface RunOptions<K extends EncodeKind = EncodeKind> {
  /** Aborting it cancels the task and rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called with the current state of the task, then after every change. */
  onProgress?(update: Update<Task<K>>): void;
  /** Called during the upload to a service with the bytes sent so far and the size of the file. */
  onUpload?(sent: number, size: number): void;
}

/** The result of {@link Client.run}. */
export interface RunResult<K extends EncodeKind = EncodeKind> {
  /** The file; for adaptive video, the master playlist. */
  blob: Blob;
  /** Properties of the file. */
  source: Source;
  /** The finished task. */
  task: Task<K> & { status: "succeeded" };
  /** The bytes in other forms: a URL, a stream, a file on disk. */
  output: Output;
}

/** The bytes of a finished run, wherever they are. */
export interface Output {
  /** The file to open: the only one, or the master playlist. */
  readonly source: Source;
  /** Returns a URL for a media element or a download, valid as long as the client is open. */
  url(): Promise<string>;
  /** Reads the whole file into memory; prefer {@link Output.stream} for large files. */
  blob(options?: ReadOptions): Promise<Blob>;
  /** Opens a stream of the file, which errors with a {@link MediaError}, and with the signal's reason on abort. */
  stream(options?: ReadOptions): Promise<ReadableStream<Uint8Array>>;
  /**
   * Writes to the file that the visitor chose; rejects with `storage_full` when there is no room. If the write fails or is aborted,
   * that file keeps its previous content.
   */
  saveTo(handle: FileSystemFileHandle, options?: ReadOptions): Promise<void>;
}

/** Tasks, wherever they run. Every method rejects with a {@link MediaError}. */
export interface Tasks {
  /**
   * Creates a task and resolves once it is stored, before its work begins. A service receives the file first.
   *
   * @throws `invalid_options` or another error of the request, with the `param` at fault.
   * @example const task = await client.tasks.create({ input: file, kind: "audio", options: { format: "opus" } });
   */
  create<K extends EncodeKind>(request: NewTask<K>, options?: CreateOptions): Promise<Task<K>>;
  /** Returns a task in its current state; rejects with `task_not_found`. */
  get(id: string, options?: ReadOptions): Promise<Task>;
  /** Lists a page of tasks, the newest first. */
  list(options?: ListOptions<TaskStatus, EncodeKind>): Promise<Page<Task>>;
  /** Iterates over all tasks; fetches a page at a time, as they are consumed. */
  each(options?: EachOptions<TaskStatus, EncodeKind>): AsyncGenerator<Task, void>;
  /** Resolves to the finished task, whatever its status; rejects with the signal's reason on abort, while the task continues. */
  wait<K extends EncodeKind = EncodeKind>(
    task: (AnyRun & { object: "task"; kind: K }) | string,
    options?: { signal?: AbortSignal },
  ): Promise<Task<K>>;
  /** Stops the work and resolves to the cancelled task; rejects with `task_finished` when there is nothing to stop. */
  cancel(id: string): Promise<Task>;
  /** Creates a new task with the request of a finished one; rejects with `task_running` while that runs. */
  retry(id: string): Promise<Task>;
  /** Removes a finished task and its output; rejects with `task_running` while it runs. */
  delete(id: string): Promise<void>;
}

/** Standalone steps, wherever they run. */
export interface Steps {
  /**
   * Creates a step and resolves once it is stored, before its work begins. A service receives the file first.
   *
   * @throws `invalid_options` or another error of the request, with the `param` at fault.
   * @example const step = await client.steps.create({ kind: "probe", input: file });
   */
  create<K extends StepKind>(request: NewStep<K>, options?: CreateOptions): Promise<Step<K>>;
  /** Returns a step in its current state; rejects with `step_not_found`. */
  get(id: string, options?: ReadOptions): Promise<Step>;
  /** Lists a page of standalone steps, the newest first; a task's own steps are in its record. */
  list(options?: ListOptions<StepStatus, StepKind>): Promise<Page<Step>>;
  /** Iterates over all standalone steps; fetches a page at a time, as they are consumed. */
  each(options?: EachOptions<StepStatus, StepKind>): AsyncGenerator<Step, void>;
  /** Resolves to the finished step, whatever its status; rejects with the signal's reason on abort, while the step continues. */
  wait<K extends StepKind = StepKind>(
    step: (AnyRun & { object: "step"; kind: K }) | string,
    options?: { signal?: AbortSignal },
  ): Promise<Step<K>>;
  /** Stops the work and resolves to the cancelled step; rejects with `step_finished` when there is nothing to stop. */
  cancel(id: string): Promise<Step>;
  /** Removes a finished standalone step and its output; rejects with `step_running` while it runs. */
  delete(id: string): Promise<void>;
}

/**
 * The interface to tasks, steps and jobs, the same for the page's own machine and for a service. Every method rejects with a
 * {@link MediaError}.
 */
export interface Client {
  /** One output of one input, through probe, ingest, encode and upload. */
  readonly tasks: Tasks;
  /** One operation on one file, to compose a workflow of your own. */
  readonly steps: Steps;
  /** Several outputs of one input, which is read once. */
  readonly jobs: Jobs;
  /**
   * Creates a task, follows it to its end and resolves to its output in memory. Rejects with the task's own error when it
   * fails; anything else that ends it early, such as an abort, cancels the task.
   *
   * @example const { blob } = await client.run({ input: file, kind: "video", options: { width: 640 } });
   */
  run<K extends EncodeKind>(request: NewTask<K>, options?: RunOptions<K>): Promise<RunResult<K>>;
  /**
   * Probes a file without a task; rejects with `input_unsupported` when it is not media.
   *
   * @example const { thumbhash } = await client.probe(file, { thumbhash: true });
   */
  probe(input: NewStep["input"], options?: ProbeOptions & { signal?: AbortSignal }): Promise<Source>;
  /**
   * Lists the times, in seconds and ascending, at which a video can be cut without an encode (`mode: "copy"`): every picture from there on
   * is complete. Empty for other media, and where the times are unknown. Rejects like {@link Client.probe}.
   *
   * @example const ticks = await client.entries(file);
   */
  entries(input: NewStep["input"], options?: ReadOptions): Promise<number[]>;
  /**
   * Estimates an output's size and encoding time without creating a task. Yields one exact estimate for input that takes about a second
   * to encode, and one narrow range for a copy or given bitrates. Otherwise yields a wide range, then a narrower one after each stretch
   * that it encodes with the task's settings, until the range is narrow enough or the caller stops. Rejects with the errors of a task,
   * and with the signal's reason on abort. A service yields only its final estimate.
   *
   * @example for await (const { bytes } of client.estimate({ input: file, kind: "video" })) console.log(bytes.low, bytes.high);
   */
  estimate<K extends EncodeKind>(
    request: NewSample<K>,
    options?: ReadOptions,
  ): AsyncGenerator<OutputEstimate, void>;
  /**
   * Encodes one moment of an output with the task's settings, without creating a task, and returns it with the original to compare. It
   * encodes a complete image (first its visible part, with `view` and `onPart`), a few pictures around a frame of a video, or a few
   * seconds of sound. With `concat`, the preview shows the first video. The next call on the same client aborts the
   * previous one, which rejects with an `AbortError`. Also rejects with the errors of a task, `invalid_kind` for a waveform, and the
   * signal's reason on abort. A service makes previews on its light encoder: it never calls `onPart`, and work
   * that only the native encoder can do rejects with `encoder_unavailable`.
   *
   * @example const { original, output, bytes } = await client.preview({ input: file, kind: "image", options: { format: "webp" } });
   */
  preview<K extends EncodeKind>(request: NewPreview<K>, options?: PreviewOptions): Promise<Preview>;
  /**
   * Draws evenly spaced pictures of a video, for example for an editor's timeline, and yields them in order. The first shows the start.
   * Each shows what a viewer sees at its time, upright and in the same colors as a still. A page decodes with WebCodecs where the browser
   * can, otherwise with its core, and stores nothing. A service draws all pictures in one task, which the client deletes afterwards.
   * Ending the iteration stops the work. Rejects with the errors of a task of kind `image`, such as `input_no_video` for sound and
   * `invalid_options` for a still image, and with the signal's reason on abort.
   *
   * @example for await (const { at, blob } of client.filmstrip(file, { count: 12, height: 72 })) show(at, URL.createObjectURL(blob));
   */
  filmstrip(input: NewTask["input"], options?: FilmstripOptions): AsyncGenerator<FilmstripPicture, void>;
  /**
   * Yields the current state of a task or step, then its changes, at most about one a second, ending with the finished run.
   * Rejects for an unknown run, and with the signal's reason on abort.
   *
   * @example for await (const { progress, waiting, error } of client.watch(task)) console.log(progress, waiting, error);
   */
  watch<T extends AnyRun = AnyRun>(
    run: T | string,
    options?: { signal?: AbortSignal },
  ): AsyncGenerator<Update<RecordOf<T>>, void>;
  /**
   * Calls the listener with the current state of a task or step and at every change until it is finished, or until the
   * returned function is called.
   */
  on<T extends AnyRun = AnyRun>(
    run: T | string,
    event: "update",
    listener: (update: Update<RecordOf<T>>) => void,
  ): () => void;
  /** Calls the listener with the error that ends the watch early: the run is unknown, was deleted, or the client was closed. */
  on(run: RunRef, event: "error", listener: (error: MediaError) => void): () => void;
  /**
   * Resolves to the bytes of a run that succeeded. Rejects with the error of a run that failed, and with `media_not_found`
   * when there are none.
   */
  output(run: RunRef): Promise<Output>;
  /** Closes connections and workers; runs at a service continue, and the page's runs resume when it is opened again. */
  close(): Promise<void>;
  /** Closes the client like {@link Client.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
