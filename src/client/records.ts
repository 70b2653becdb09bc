import type { InputRole } from "../media/extra-inputs.ts";
import type { EncodeKind, StepKind } from "../media/formats.ts";
import type { OptionsOf } from "../media/option-types.ts";
import type { ExternalFile, Source } from "../media/source.ts";
import type { PreviewPart, PreviewView } from "../runs/samples.ts";
import type { RunError, Step as StepRecord } from "../runs/step.ts";
import type { Task as TaskRecord } from "../runs/task.ts";
import type { UploadRequest } from "../runs/upload.ts";
import type { AnyMedia } from "./media-input.ts";

/**
 * A task: one input through probe, ingest, encode and upload. A union by `kind`, which types its options, and by `status`: a
 * task that succeeded has an `output`, one that failed an `error`. Field names are those of the HTTP API.
 *
 * @example if (task.status === "failed") console.error(task.error.message);
 */
export type Task<K extends EncodeKind = EncodeKind> = K extends EncodeKind
  ? Omit<TaskRecord, "kind" | "options" | "status" | "error" | "output" | "steps"> & {
      kind: K;
      options: OptionsOf<K>;
      steps: Step[];
    } & TaskState
  : never;

type TaskState =
  | { status: "queued" | "processing" | "cancelled"; output: string | null; error: null }
  | { status: "succeeded"; output: string; error: null }
  | { status: "failed"; output: string | null; error: RunError };

/**
 * A standalone step: one operation on one file. A union by `kind` and `status`, like {@link Task}; the output of a `probe`
 * is the Source of the file.
 */
export type Step<K extends StepKind = StepKind> = K extends StepKind
  ? Omit<StepRecord, "kind" | "options" | "status" | "error" | "output"> & {
      kind: K;
      options: OptionsOf<K>;
    } & StepState
  : never;

type StepState =
  | { status: "waiting" | "processing" | "cancelled"; output: null; error: null }
  | { status: "succeeded"; output: Source; error: null }
  | { status: "failed"; output: null; error: RunError };

/** A task or step of any kind and in any state. */
export type AnyRun = TaskRecord | StepRecord;

/** A task or step, or its id. */
export type RunRef = AnyRun | string;

/** The type of the record that a reference leads to: a task, a step, or either for an id. */
export type RecordOf<T> = T extends { object: "task"; kind: infer K extends EncodeKind }
  ? Task<K>
  : T extends { object: "step"; kind: infer K extends StepKind }
    ? Step<K>
    : Task | Step;

/** Options in which a file or a URL object may stand for the URL of an extra input, such as that of an overlay. */
export type WithFiles<O> = { [N in keyof O]: N extends InputRole ? FilesIn<O[N]> : O[N] };
type FilesIn<T> = T extends readonly (infer E)[]
  ? FilesIn<E>[]
  : T extends { url: string }
    ? Omit<T, "url"> & { url: AnyMedia }
    : T;

/** The request for a new task; its options depend on its kind. */
export interface NewTask<K extends EncodeKind = EncodeKind> {
  /** The media to encode: a file, a URL, or bytes in any other form. */
  input: AnyMedia;
  /** The kind of output. */
  kind: K;
  /** Options of the kind; each has a default. */
  options?: WithFiles<OptionsOf<K>>;
  /**
   * Destination `s3://<bucket>/<key>`.
   *
   * @default the client's own storage
   */
  output?: string;
  /** Data of your own, kept with the task: up to 16,384 bytes of JSON. */
  metadata?: Record<string, unknown>;
  /** URL to which a service posts the task's events; the local client refuses it. */
  webhook_url?: string;
}

/** An input and what to do with it, for an estimate or a preview. */
export type NewSample<K extends EncodeKind = EncodeKind> = Pick<NewTask<K>, "input" | "kind" | "options">;

/** The request for a preview. */
export type NewPreview<K extends EncodeKind = EncodeKind> = NewSample<K> & {
  /**
   * The moment to show, in seconds of the source, 0 or later. A moment outside the part of the source that the output shows is moved to
   * its first or last frame. For kind `image`, it replaces the option `start`: a moment beyond the end rejects with `invalid_options`,
   * and so does any but 0 for a still image.
   *
   * @default the middle of the output; for kind `image`, the option `start`
   */
  at?: number;
  /** The visible part of a picture, for {@link PreviewOptions.onPart}. */
  view?: PreviewView;
};

/** The request for a new standalone step; its options depend on its kind. */
export interface NewStep<K extends StepKind = StepKind> {
  /** The operation. */
  kind: K;
  /** The output of an earlier step, or media in any form. */
  input: Source | ExternalFile | { url: string | URL } | AnyMedia;
  /** Options of the kind; only those of `upload` are required. */
  options?: WithFiles<OptionsOf<K>>;
  /** URL to which a service posts the step's events; the local client refuses it. */
  webhook_url?: string;
}

/** How to upload a file to a service. */
export interface SendOptions extends Partial<Omit<UploadRequest, "size">> {
  /** Stops the upload and discards what was sent. */
  signal?: AbortSignal;
  /** Called with the bytes sent so far and the size of the file; bytes that are sent again count once. */
  onProgress?(sent: number, size: number): void;
  /**
   * Idempotency key: 1 to 255 printable ASCII characters without spaces. For a day, the same request with the same key returns the first
   * record instead of creating another, for example after a crash that lost the response. Another request with the key rejects with
   * `idempotency_mismatch`. While the first is in progress, the client waits up to a minute, then rejects with `idempotency_conflict`. The
   * files of a request are uploaded under keys derived from it. The local client ignores it.
   *
   * @default a random key for each request
   */
  idempotencyKey?: string;
}

/** Options for creating a record at a service and uploading its files; the local client uploads nothing. */
export type CreateOptions = Pick<SendOptions, "signal" | "onProgress" | "idempotencyKey">;

/** Options of a read. */
export interface ReadOptions {
  /** Aborting it ends the read, which rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Options of a preview. */
export interface PreviewOptions extends ReadOptions {
  /**
   * Called once with the visible part of a picture, when the request has a `view`: it is encoded first, with the same settings and in
   * far less time than the whole. Never called for video or sound, for a picture with an overlay, or by the client of a service.
   */
  onPart?(part: PreviewPart): void;
}

/** Options of a filmstrip. */
export interface FilmstripOptions extends ReadOptions {
  /**
   * Number of pictures, from 1 to 500.
   *
   * @default 10
   */
  count?: number;
  /**
   * Height of a picture in pixels; the width follows from the shape of the source.
   *
   * @default 90
   */
  height?: number;
  /**
   * Draws the intact part of an MP4 or MOV that is cut off.
   *
   * @default false
   */
  partial?: boolean;
}

/** Options of a list. */
export interface ListOptions<Status extends string = string, Kind extends string = string>
  extends ReadOptions {
  /**
   * Maximum number of records to return, from 1 to 100.
   *
   * @default 20
   */
  limit?: number;
  /**
   * Order of creation; `desc` lists the newest first.
   *
   * @default `desc`
   */
  order?: "asc" | "desc";
  /** Id of the record after which the page begins. */
  after?: string;
  /** Id of the record before which the page ends; excludes `after`. */
  before?: string;
  /** Lists only records of this status. */
  status?: Status;
  /** Lists only records of this kind. */
  kind?: Kind;
}

/** Options for iterating over a whole list; `limit` is the number of records per request, 100 by default. */
export type EachOptions<Status extends string = string, Kind extends string = string> = Omit<
  ListOptions<Status, Kind>,
  "before"
>;

/** A page of a list. */
export interface Page<T> {
  /** The records, in the order of the list. */
  records: T[];
  /** Whether more follow in the same direction. */
  more: boolean;
}
