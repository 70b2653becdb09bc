import type { ListOptions, Page } from "../client/client.ts";
import type { UploadProgress, Waiting, WaitingFile } from "../client/update.ts";
import type { MediaError } from "../media/errors.ts";
import type { Size } from "../media/picture-geometry.ts";
import type { EncoderChoice } from "../media/refusal.ts";
import type { Source } from "../media/source.ts";
import type { Job } from "../runs/job.ts";
import type { FilmstripPicture, OutputEstimate, Preview, PreviewPart, PreviewView } from "../runs/samples.ts";
import type { RunError, Step } from "../runs/step.ts";
import type { Task } from "../runs/task.ts";
import type { PresignRequest, SignedRequest } from "../storage/s3/s3-sign.ts";
import type { ConnectionSettings } from "./connections.ts";
import * as errors from "./errors.ts";

/** A record of either type. */
export type Run = Task | Step;
/** The type of a record. */
export type RecordType = Run["object"];
/** A visitor's file or its handle. */
export type LocalFile = Blob | FileSystemFileHandle;

/** URLs of ffmpeg's wasm cores, and how to cache them. */
export interface CoreFiles {
  /** URL of `ffmpeg-core.wasm`, plain or gzipped. */
  wasm?: string;
  /** URL of `ffmpeg-core.js` (ESM), plain or gzipped. */
  glue?: string;
  /**
   * URL of `framewright-core.wasm`, the fast core, plain or gzipped; null to encode without it.
   *
   * @default that of the package
   */
  fast?: string | null;
  /**
   * URL of `framewright-core-vp9.wasm`, the fast core for VP9, plain or gzipped; unused where `fast` is null.
   *
   * @default that of the package
   */
  vp9?: string;
  /**
   * URL of `dejavu-sans.bin`, the font of text and burnt-in subtitles, gzipped, or of `DejaVuSans.ttf`.
   *
   * @default that of the package
   */
  font?: string;
  /**
   * URL of the folder that serves the package's `dist/fonts`, ending with a slash. A task loads from it the fonts with letters of its text
   * that the option `fonts` and DejaVu Sans lack, such as Chinese, Thai or Devanagari; if one cannot be loaded, the task fails as
   * `encoder_unavailable`. Without the folder, a task fails on such letters unless `fonts` has them.
   *
   * @default no folder
   */
  fonts?: string;
  /**
   * Name of the cache that keeps the files for the next visit; null disables caching.
   *
   * @default `framewright-core`
   */
  cache?: string | null;
}

/** URLs of ffmpeg's threaded core, which the package does not contain. */
export interface ThreadedCoreFiles extends Omit<CoreFiles, "fast" | "vp9" | "font" | "fonts"> {
  /** URL of `ffmpeg-core.wasm`, plain or gzipped. */
  wasm: string;
  /** URL of `ffmpeg-core.js` (ESM), plain or gzipped. */
  glue: string;
  /** URL of `ffmpeg-core.worker.js`. */
  threads: string;
}

/** Settings of the media worker. */
export interface MediaSettings {
  /** Name of the database and of the folder. */
  name: string;
  prefer: "quality" | "speed";
  /** Maximum number of encoder workers; null for as many as fit the machine. */
  encoderWorkers: number | null;
  /** URLs of ffmpeg's wasm core; null for those of the package. */
  core: CoreFiles | null;
  threadedCore: ThreadedCoreFiles | null;
  /** URL of the AVIF encoder's wasm; null for that of the package. */
  avif: string | null;
  /** The name of the page's host, whose inputs are always allowed, on any port. */
  host: string;
  /** Whether inputs may be on private hosts too. */
  allowPrivate: boolean;
  /** Seconds after which outputs are deleted, and unfinished runs whose file is gone are cancelled. */
  keepSeconds: number;
  /** Size limit in bytes of a visitor's file that is copied into storage. */
  keepInputBytes: number;
  /** S3 storage for outputs and inputs; never stored. */
  connections: ConnectionSettings[];
  /** Whether the page has a fallback. */
  fallback: boolean;
}

/** The output files of a run that succeeded. */
export interface RunFiles {
  source: Source;
  /** Id of the fallback's task that did the work; null when the page did it. */
  remote: string | null;
  /** All files by their paths relative to the output folder. */
  files: { name: string; file: File }[];
}

/** Bytes that the library stores in this browser, by purpose. */
export interface LocalUsage {
  /** Copies of visitors' files, which let runs survive their page. */
  inputs: number;
  /** Working files of unfinished runs. */
  work: number;
  /** Outputs of finished runs. */
  outputs: number;
  /** Approximate size of tasks, steps and their stored results in the database. */
  records: number;
  /** ffmpeg's core in the browser's cache. */
  core: number;
  /** The sum of the others. */
  total: number;
}

/** The current state of a run. */
export interface RunState {
  record: Run;
  /** The encoder chosen for the encode, unless the record contains it; null while there is none. */
  choice: EncoderChoice | null;
  /** The reason why it waits; absent while it works. */
  waiting?: Waiting;
  /** Progress of the upload of its file to the fallback; absent at other times. */
  upload?: UploadProgress;
}

/** The page's response to a request of the media worker: the result, or an error. */
export type PageResponse<T> =
  | { result: T; error: null }
  | { result: null; error: { kind: MediaError["kind"]; message: string; retryable: boolean } };

/** The moment and the part that a preview shows; by default the middle and the whole. */
export interface PreviewMoment {
  /** Seconds of the source. */
  at?: number;
  view?: PreviewView;
}

/** The media worker's methods; all reject with a MediaError. */
export interface MediaApi {
  open(settings: MediaSettings): Promise<void>;
  /** Creates a run on `file`; `extra` has the other files by the paths of their URLs in the request. */
  create(
    type: RecordType,
    request: unknown,
    file: LocalFile | null,
    extra: ReadonlyMap<string, LocalFile>,
  ): Promise<Run>;
  get(type: RecordType, id: string): Promise<Run>;
  /** Returns the current state of a run, for its first watcher. */
  state(type: RecordType, id: string): Promise<RunState>;
  list(type: RecordType, options: ListOptions): Promise<Page<Run>>;
  cancel(type: RecordType, id: string): Promise<Run>;
  retry(id: string): Promise<Task>;
  remove(type: RecordType, id: string): Promise<void>;
  /** Creates a job on `file`; the paths of `extra` begin with `outputs.<index>.`. */
  createJob(request: unknown, file: LocalFile | null, extra: ReadonlyMap<string, LocalFile>): Promise<Job>;
  getJob(id: string): Promise<Job>;
  listJobs(options: ListOptions): Promise<Page<Job>>;
  cancelJob(id: string): Promise<Job>;
  removeJob(id: string): Promise<void>;
  files(id: string): Promise<RunFiles>;
  waiting(id: string): Promise<WaitingFile | null>;
  /** Resumes a run with the file that it waits for; null when the visitor has allowed reading the original again. */
  resume(id: string, file: LocalFile | null): Promise<Run>;
  /** Returns the handle of a run's file; only the page can ask the visitor for permission. */
  handle(id: string): Promise<FileSystemFileHandle | null>;
  usage(): Promise<LocalUsage>;
  /** Deletes finished runs, or everything, and resolves with the remaining usage. */
  clear(everything: boolean): Promise<LocalUsage>;
  /** Reports the progress of the upload of a run's file to the fallback. */
  sending(id: string, upload: UploadProgress): Promise<void>;
  /** Reports the state of the fallback's task, or the error that ended the watch. */
  followed(id: string, remote: Task | { error: Omit<RunError, "step_id"> }): Promise<void>;
  /** Begins an estimate under an id; {@link MediaApi.refine} reports its errors. */
  estimate(
    id: string,
    request: unknown,
    file: LocalFile | null,
    extra: ReadonlyMap<string, LocalFile>,
  ): Promise<void>;
  /** Returns the next estimate, a better one than the last; null when there is none. */
  refine(id: string): Promise<OutputEstimate | null>;
  /** Begins a preview under an id; {@link MediaApi.show} reports its errors. */
  preview(
    id: string,
    request: unknown,
    moment: PreviewMoment,
    file: LocalFile | null,
    extra: ReadonlyMap<string, LocalFile>,
  ): Promise<void>;
  /** Returns the visible part of a preview, if there is one, and then the whole. */
  show(id: string): Promise<{ part: PreviewPart } | { whole: Preview }>;
  /** Starts a filmstrip under an id; {@link MediaApi.nextPicture} reports its errors. */
  filmstrip(id: string, request: unknown, file: LocalFile | null): Promise<void>;
  /** Returns the next picture of a filmstrip; null after the last. */
  nextPicture(id: string): Promise<FilmstripPicture | null>;
  /** Stops the work on an estimate, a preview or a filmstrip. */
  endSample(id: string): Promise<void>;
  /** Answers a `sign` event. */
  signed(requestId: number, answer: PageResponse<SignedRequest>): Promise<void>;
  /** Answers a `draw` event with a PNG. */
  drawn(requestId: number, answer: PageResponse<Blob>): Promise<void>;
}

/** Events that the media worker sends to the page. */
export type MediaEvent =
  | ({ type: "changed" } & RunState)
  | { type: "removed"; id: string }
  /**
   * Asks the page to follow a task at the fallback, and to create it first unless it exists there as `remote`; `file` is its
   * input, if any.
   */
  | { type: "follow"; id: string; request: unknown; remote: string | null; file: Blob | null }
  /** Asks the page to draw an SVG at a size in pixels; workers cannot. */
  | { type: "draw"; requestId: number; file: Blob; size: Size }
  /** Stops a drawing whose run is over. */
  | { type: "undraw"; requestId: number }
  /** Asks the page to sign a request to S3 storage with a connection's function. */
  | { type: "sign"; requestId: number; connection: string; request: PresignRequest }
  /** Asks the page to cancel the task at the fallback, if it exists there as `remote`. */
  | { type: "unfollow"; id: string; remote: string | null };

/** Time limit for drawing an SVG, in milliseconds. */
export const DRAW_MS = 20_000;

/** Returns the error of an SVG that takes, or would take, longer than {@link DRAW_MS}. */
export function slowDrawing(): MediaError {
  return errors.slowDrawing({ seconds: DRAW_MS / 1000 });
}

/**
 * Resolves to true as soon as this browser may have runs of a name: at once after an earlier visit, otherwise when another tab
 * announces a run. Resolves to false when the signal aborts first.
 */
export async function findRuns(name: string, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const channel = new BroadcastChannel(channelOf(name));
  channel.addEventListener("message", () => resolve(true));
  signal.addEventListener("abort", () => resolve(false), { once: true });
  mayHaveRuns(name).then((has) => has && resolve(true));
  return promise.finally(() => channel.close());
}

/** Returns the name of the channel on which tabs announce changes to runs. */
export function channelOf(name: string): string {
  return `${name} runs`;
}

/** Returns whether this browser may have runs of a name; false when none was ever created. */
export async function mayHaveRuns(name: string): Promise<boolean> {
  try {
    return (await indexedDB.databases()).some((database) => database.name === name);
  } catch {
    return true;
  }
}
