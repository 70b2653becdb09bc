import * as errors from "../errors.ts";

/**
 * The minified names in `@ffmpeg/core` 0.12.10 (single-threaded, ESM) that the driver uses. A test reads them from the glue, so that
 * an upgrade cannot go unnoticed.
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

interface ThreadOptions {
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

interface CoreModule {
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

export interface StartedCore {
  core: CoreModule;
  exports: Record<string, unknown>;
}

/** The start parameters of a threaded core, besides its glue. */
export interface ThreadStart extends ThreadOptions {
  module: WebAssembly.Module;
}

/** Starts a core; rejects with `worker_lost`. */
export async function startCore(
  createCore: CreateCore,
  instantiate: Instantiate,
  threads?: ThreadStart,
): Promise<StartedCore> {
  const { module, ...options } = threads ?? {};
  let exports: Record<string, unknown> = {};
  const core = await new Promise<CoreModule>((resolve, reject) => {
    createCore({
      ...options,
      locateFile: (path) => path,
      instantiateWasm(imports, done) {
        // The glue cannot report a failure here, so reject the promise around it.
        Promise.resolve(instantiate(imports))
          .then((instance) => {
            exports = instance.exports;
            done(instance, module);
          })
          .catch(reject);
        return {};
      },
    }).then(resolve, reject);
  }).catch((cause: unknown) => {
    throw errors.coreUnstarted({ cause });
  });
  return { core, exports };
}

/**
 * Returns whether a run threw its normal exit: the core leaves main() through abort(), which the glue turns into this error.
 */
export function isExit(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.startsWith("Aborted().");
}

/** Lends one wasm instance to job after job, wiped in between. */
export interface InstanceKeeper {
  instantiate: Instantiate;
  /** Bytes of the instance's heap; 0 when there is none. */
  readonly heap: number;
  /** Discards the instance, whose heap never shrinks; the next one starts small. */
  drop(): void;
}

interface CoreInstance {
  exports: Record<string, unknown>;
  memory: WebAssembly.Memory;
  /** The initial memory up to its last non-zero byte. */
  image: Uint8Array;
  stack: number;
}

const PAGE = 4096;

/**
 * Reuses one instance of the core for all jobs, one at a time. New instances would leave the last two or three heaps to the garbage
 * collector (measured in workerd: 150 MB), which an isolate of 128 MB cannot afford. Wiping restores the memory byte for byte and the
 * stack pointer, so that a job leaves nothing behind; the wasm's only other mutable global holds the upper half of a 64-bit result
 * during a call.
 */
export function reuseInstance(instantiate: Instantiate): InstanceKeeper {
  let reused: CoreInstance | null = null;
  let current: CoreImports = {};

  function forward(imports: CoreImports): CoreImports {
    const groups = Object.entries(imports).map(([group, functions]) => {
      const forwarded = Object.keys(functions).map((name) => {
        return [name, (...args: number[]) => current[group]?.[name]?.(...args)] as const;
      });
      return [group, Object.fromEntries(forwarded)] as const;
    });
    return Object.fromEntries(groups);
  }

  return {
    get heap() {
      return reused?.memory.buffer.byteLength ?? 0;
    },
    drop() {
      reused = null;
    },
    async instantiate(imports) {
      if (reused) {
        current = imports;
        wipe(reused);
        return reused;
      }
      const { exports } = await instantiate(forward(imports));
      current = imports;
      const memory = exports[CORE_NAMES.exports.memory] as WebAssembly.Memory;
      const stackSave = exports[CORE_NAMES.exports.stackSave] as () => number;
      reused = { exports, memory, image: imageOf(memory), stack: stackSave() };
      return reused;
    },
  };
}

/** Fills a memory with zeros from an offset to its end. */
export function clearMemory(memory: WebAssembly.Memory, from: number): void {
  const words = new Int32Array(memory.buffer);
  const wide = PAGE / words.BYTES_PER_ELEMENT;
  const first = Math.ceil(from / PAGE);
  new Uint8Array(memory.buffer).fill(0, from, first * PAGE);
  for (let page = first * wide; page < words.length; page += wide) {
    // Writing zeros to an untouched page would allocate it.
    if (!isZero(words, page, page + wide)) words.fill(0, page, page + wide);
  }
}

function isZero(words: Int32Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (words[at] !== 0) return false;
  }
  return true;
}

function imageOf(memory: WebAssembly.Memory): Uint8Array {
  const bytes = new Uint8Array(memory.buffer);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.slice(0, end);
}

function wipe({ exports, memory, image, stack }: CoreInstance): void {
  new Uint8Array(memory.buffer).set(image);
  clearMemory(memory, image.length);
  const stackRestore = exports[CORE_NAMES.exports.stackRestore] as (pointer: number) => void;
  stackRestore(stack);
}
