import type { Client, RunRef, Step, Task, WaitingFile } from "../../client/client.ts";
import type { CoreFiles, LocalFile, LocalUsage, ThreadedCoreFiles } from "../media-api.ts";
import type { LocalOutput } from "./local-output.ts";
import type { LocalConnection } from "./sign-requests.ts";

/** Options of `createLocalClient`; all of them have defaults. */
export interface LocalClientOptions {
  /**
   * Name of the database and of the folder in the browser's storage; clients of one name, in all tabs of an origin, share
   * their tasks.
   *
   * @default `framewright`
   */
  name?: string;
  /**
   * Whether to prefer better and smaller files or shorter encodes, where there is a choice.
   *
   * @default `quality`
   */
  prefer?: "quality" | "speed";
  /**
   * Runs tasks that no encoder in the page can: the task is also created there, and its record here mirrors that one. It
   * must be able to read an input URL; a file is uploaded to it, with `upload` on the updates. If it cannot do the work
   * either, the error has a `fallback` with the reason, as it does for standalone steps.
   */
  fallback?: Client;
  /**
   * URL of the folder that serves the package's `dist/workers`, beside `dist/core`, on the page's own origin. For bundlers
   * that do not copy the files named by `new URL(…, import.meta.url)`, such as esbuild and Rollup.
   *
   * @default where the bundler put them
   */
  workers?: string | URL;
  /**
   * S3 storage for outputs, and for inputs `s3://<bucket>/<key>`; tasks use the default connection. None of it is stored: a
   * reopened page passes it again, and uploads resume where they stopped. The bucket's CORS rules must allow the page's
   * origin and expose ETag and Content-Range.
   */
  connections?: readonly LocalConnection[];
  /**
   * Most encoder workers to run.
   *
   * @default one per processor, fewer when memory is short
   */
  encoderWorkers?: number;
  /**
   * URLs of ffmpeg's wasm core.
   *
   * @default those of the package
   */
  core?: CoreFiles;
  /**
   * URLs of `@ffmpeg/core-mt`, with which a cross-origin isolated page encodes h265.
   *
   * @default none
   */
  threadedCore?: ThreadedCoreFiles;
  /**
   * URL of `@jsquash/avif/codec/enc/avif_enc.wasm`.
   *
   * @default that of the package
   */
  avif?: string;
  /**
   * Allows input URLs on private hosts; those on the page's own host are always allowed.
   *
   * @default false
   */
  allowPrivate?: boolean;
  /**
   * Seconds after which outputs are deleted, and unfinished runs whose file is gone are cancelled; their records stay.
   *
   * @default 604_800, a week
   */
  keepSeconds?: number;
  /**
   * Size limit in bytes of a file without a handle that is copied into the browser's storage, once per run, so that the run
   * survives its page. Use 0 for a page that keeps the files itself and passes them to {@link LocalClient.resume}.
   *
   * @default 268_435_456
   */
  keepInputBytes?: number;
}

/** Tasks and steps on the page's own machine. */
export interface LocalClient extends Client {
  /** Returns the bytes of a run that succeeded; rejects with `media_not_found` when it has none. */
  output(run: RunRef): Promise<LocalOutput>;
  /**
   * Returns the file that a run waits for because it can no longer be read, as after a reload; null when it waits for none.
   * Such a run stays `queued` or `processing`, sends an update when it begins to wait, and continues with
   * {@link LocalClient.resume}. Handles survive a reload, and so do files of up to `keepInputBytes`, which are copied into
   * the browser's storage; larger files last as long as their page.
   */
  waiting(run: RunRef): Promise<WaitingFile | null>;
  /**
   * Resumes a run that waits for its file, from the last finished durable step. Without `file`, the browser asks the visitor
   * to allow reading the original again, which needs a click.
   *
   * @throws `invalid_input` for a different file, `input_unreachable` for one that cannot be read or that the visitor does not
   * allow.
   */
  resume(run: RunRef, file?: LocalFile): Promise<Task | Step>;
  /** Counts the bytes that the library stores in this browser under the client's name, and those of ffmpeg's core. */
  usage(): Promise<LocalUsage>;
  /**
   * Removes every finished task and step with its files, and any leftovers; resolves to the remaining usage. With
   * `everything` it also cancels and removes unfinished runs, and removes ffmpeg's cached core.
   */
  clear(options?: { everything?: boolean }): Promise<LocalUsage>;
}
