import type { EncodeKind, StepKind } from "../core/formats.ts";
import type { InputRole } from "../core/further/further-inputs.ts";
import type { OptionsOf } from "../core/option-types.ts";
import type { ExternalFile, Source } from "../core/source.ts";
import type { UploadRequest } from "../core/upload.ts";
import type { AnyMedia } from "./read-media.ts";

/** Options in which a file or a URL object may stand for the URL of a further input, such as that of an overlay. */
export type WithFiles<O> = { [N in keyof O]: N extends InputRole ? FilesIn<O[N]> : O[N] };
type FilesIn<T> = T extends readonly (infer E)[]
  ? FilesIn<E>[]
  : T extends { url: string }
    ? Omit<T, "url"> & { url: AnyMedia }
    : T;

/** The request for a new task; its options depend on its kind. */
export interface NewTask<K extends EncodeKind = EncodeKind> {
  input: AnyMedia;
  kind: K;
  options?: WithFiles<OptionsOf<K>>;
  /** Destination `s3://<bucket>/<key>`. */
  output?: string;
  metadata?: Record<string, unknown>;
  /** URL to which a service posts the task's events; the local client refuses it. */
  webhook_url?: string;
}

/** The request for a new standalone step; its options depend on its kind. */
export interface NewStep<K extends StepKind = StepKind> {
  kind: K;
  input: Source | ExternalFile | { url: string | URL } | AnyMedia;
  options?: WithFiles<OptionsOf<K>>;
  /** URL to which a service posts the step's events; the local client refuses it. */
  webhook_url?: string;
}

/** How to upload a file to a service. */
export interface SendOptions extends Partial<Omit<UploadRequest, "size">> {
  /** Stops the upload and discards what was sent. */
  signal?: AbortSignal;
  /** Called with the bytes sent so far and the size of the file; bytes sent again count once. */
  onProgress?(sent: number, size: number): void;
}

/** How to upload the file of a new task or step to a service; the local client uploads none. */
export type CreateOptions = Pick<SendOptions, "signal" | "onProgress">;

/** Options of a list; `after` and `before` are ids. */
export interface ListOptions<Status extends string = string, Kind extends string = string> {
  /**
   * From 1 to 100.
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
  after?: string;
  before?: string;
  status?: Status;
  kind?: Kind;
}

/** Options for iterating over a whole list; `limit` is the number of records per request. Default 100. */
export type EachOptions<Status extends string = string, Kind extends string = string> = Omit<
  ListOptions<Status, Kind>,
  "before"
>;

/** A page of a list, and whether more follow in the same direction. */
export interface Page<T> {
  records: T[];
  more: boolean;
}
