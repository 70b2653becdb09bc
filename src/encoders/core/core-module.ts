/**
 * The minified names of `@ffmpeg/core` 0.12.10 (single thread, ESM) that the driver reaches for, as its glue spells them;
 * a test reads them back from the glue's text, so that another version cannot slip in.
 */
export const CORE_NAMES = {
  exports: { memory: "ra", stackSave: "Da", stackRestore: "Ea" },
  imports: { resizeHeap: "N", socket: "v" },
} as const;

/** The functions that the wasm imports from its glue, under minified names. */
export type CoreImports = Record<string, Record<string, (...args: number[]) => unknown>>;

/** Makes an instance of `ffmpeg-core.wasm` with the imports of its glue. */
export type Instantiate = (
  imports: CoreImports,
) => { exports: Record<string, unknown> } | Promise<{ exports: Record<string, unknown> }>;

/** What the glue of a threaded core is told beside. */
export interface ThreadOptions {
  /** Bytes of its memory, in whole pages of 64 KiB. */
  INITIAL_MEMORY: number;
  /** URL of the glue; what comes after its `#` says where the code of its threads is. */
  mainScriptUrlOrBlob: string;
}

/** What is handed to the default export of `ffmpeg-core.js`. */
export interface CoreOptions extends Partial<ThreadOptions> {
  instantiateWasm(
    imports: CoreImports,
    done: (instance: { exports: object }, module?: unknown) => void,
  ): object;
  locateFile(path: string): string;
}

/** The default export of `ffmpeg-core.js`. */
export type CreateCore = (options: CoreOptions) => Promise<CoreModule>;

/** A file or folder inside the core; a file of its memory file system has `usedBytes` of `contents`. */
export interface CoreNode {
  contents: ArrayBufferView | Record<string, CoreNode> | null;
  usedBytes: number;
}

/** Writes to a file in the core's memory. */
export type CoreWrite = (
  stream: { node: CoreNode },
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
  canOwn?: boolean,
) => number;

/** The file systems of the core; only what is used here. */
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

/** A running core; only what is used here. */
export interface CoreModule {
  FS: CoreFileSystem;
  /** The threads of a threaded core. */
  PThread?: { terminateAllThreads(): void };
  DEFAULT_ARGS: string[];
  DEFAULT_ARGS_FFPROBE: string[];
  /** The exit code of the last run. */
  ret: number;
  /** Milliseconds that a run may take; -1 for no end. */
  timeout: number;
  stringsToPtr(texts: readonly string[]): number;
  reset(): void;
  setLogger(logger: (line: { type: string; message: string }) => void): void;
  _malloc(bytes: number): number;
  _ffmpeg(count: number, args: number): void;
  _ffprobe(count: number, args: number): void;
}
