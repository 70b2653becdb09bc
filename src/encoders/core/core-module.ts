/**
 * The minified names in `@ffmpeg/core` 0.12.10 (single-threaded, ESM) that the driver uses. A test reads them back from the
 * glue, so that an upgrade cannot go unnoticed.
 */
export const CORE_NAMES = {
  exports: { memory: "ra", stackSave: "Da", stackRestore: "Ea" },
  imports: { resizeHeap: "N", socket: "v" },
} as const;

/** The functions that the wasm imports from its glue, by minified name. */
export type CoreImports = Record<string, Record<string, (...args: number[]) => unknown>>;

export type Instantiate = (
  imports: CoreImports,
) => { exports: Record<string, unknown> } | Promise<{ exports: Record<string, unknown> }>;

/** Extra options of a threaded core's glue. */
export interface ThreadOptions {
  /** Bytes of its memory, a multiple of 64 KiB. */
  INITIAL_MEMORY: number;
  /** URL of the glue; the part after `#` locates the script of its threads. */
  mainScriptUrlOrBlob: string;
}

/** The argument of the default export of `ffmpeg-core.js`. */
export interface CoreOptions extends Partial<ThreadOptions> {
  instantiateWasm(
    imports: CoreImports,
    done: (instance: { exports: object }, module?: unknown) => void,
  ): object;
  locateFile(path: string): string;
}

export type CreateCore = (options: CoreOptions) => Promise<CoreModule>;

/** A file or folder inside the core; for files in memory, `usedBytes` of `contents` are valid. */
export interface CoreNode {
  contents: ArrayBufferView | Record<string, CoreNode> | null;
  usedBytes: number;
}

/** Writes to a file in the core's memory file system. */
export type CoreWrite = (
  stream: { node: CoreNode },
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
  canOwn?: boolean,
) => number;

export interface CoreFileSystem {
  filesystems: {
    MEMFS: { ops_table: { file: { stream: { write: CoreWrite } } } };
    WORKERFS: { reader: unknown };
  };
  mkdir(path: string): void;
  mount(type: unknown, options: { blobs: { name: string; data: unknown }[] }, path: string): void;
  readdir(path: string): string[];
  isDir(mode: number): boolean;
  stat(path: string): { mode: number; size: number };
  lookupPath(path: string): { node: CoreNode };
  unlink(path: string): void;
}

export interface CoreModule {
  FS: CoreFileSystem;
  DEFAULT_ARGS: string[];
  DEFAULT_ARGS_FFPROBE: string[];
  /** Exit code of the last run. */
  ret: number;
  /** Time limit of a run in milliseconds; -1 for none. */
  timeout: number;
  stringsToPtr(texts: readonly string[]): number;
  reset(): void;
  setLogger(logger: (line: { type: string; message: string }) => void): void;
  _malloc(bytes: number): number;
  _ffmpeg(count: number, args: number): void;
  _ffprobe(count: number, args: number): void;
}
