import { CORE_FILES, CORE_MT_FILES, type CoreFile } from "./core-load-facts.ts";
import { loadFile } from "./core-load-file.ts";
import { giveBack } from "./free-buffer.ts";

/** The stock core, ready to be given to any number of encoder workers. */
export interface LoadedCore {
  /** The wasm, compiled once; every encoder worker makes an instance of its own. */
  module: WebAssembly.Module;
  /** Its glue, a module of JavaScript. */
  glue: Blob;
  /** What its threads load; only the threaded core has it. */
  threads?: Blob;
}

/** How far the load is, counted in unpacked bytes. */
export interface CoreProgress {
  loaded: number;
  total: number;
}

/** How a core is loaded. */
export interface LoadOptions {
  /** Is told of progress, from 0 bytes to all. */
  onProgress?: ((progress: CoreProgress) => void) | undefined;
  /** Name of the cache in which the files are kept for the next visit; null for none. Default `framewright-core`. */
  cache?: string | null | undefined;
  /** Seconds without a byte after which the load fails; default 30. */
  stall_seconds?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Where the core comes from. Each file may be as it is or packed with gzip. */
export interface CoreLoadOptions extends LoadOptions {
  /** URL of `ffmpeg-core.wasm`; by default the packed one beside the package's own files. */
  wasm?: string | URL | undefined;
  /** URL of `ffmpeg-core.js` (ESM); by default the packed one beside the package's own files. */
  glue?: string | URL | undefined;
}

/** Where the threaded core comes from, which this package does not bring along. Each file may be as it is or packed with gzip. */
export interface MtCoreLoadOptions extends LoadOptions {
  /** URLs of `ffmpeg-core.wasm`, `ffmpeg-core.js` (ESM) and `ffmpeg-core.worker.js` of `@ffmpeg/core-mt`. */
  wasm: string | URL;
  glue: string | URL;
  threads: string | URL;
}

/** Name of the cache in which a core is kept where no other is named. */
export const CORE_CACHE = "framewright-core";
const STALL_SECONDS = 30;

/**
 * Loads the stock core, from the cache where it is there, checks that it is the very one that this package drives, and
 * compiles it. Rejects with `encoder_unavailable` when it cannot be fetched (retryable), or is another one, altered or cut off.
 */
export async function loadCore(options: CoreLoadOptions = {}): Promise<LoadedCore> {
  const wasm = options.wasm ?? new URL("../../../dist/core/ffmpeg-core.wasm.gz", import.meta.url);
  const glue = options.glue ?? new URL("../../../dist/core/ffmpeg-core.js.gz", import.meta.url);
  const loaded = await loadAll(CORE_FILES, { wasm, glue }, options);
  return { module: await compile(loaded.wasm), glue: script(loaded.glue) };
}

/** Loads the threaded core, as {@link loadCore} does. */
export async function loadMtCore(options: MtCoreLoadOptions): Promise<LoadedCore> {
  const loaded = await loadAll(CORE_MT_FILES, options, options);
  const module = await compile(loaded.wasm);
  return { module, glue: script(loaded.glue), threads: script(loaded.threads) };
}

// The module has a copy of its own.
async function compile(wasm: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(wasm);
  } finally {
    giveBack(wasm);
  }
}

function script(bytes: Uint8Array<ArrayBuffer>): Blob {
  return new Blob([bytes], { type: "text/javascript" });
}

async function loadAll<Name extends string>(
  files: Readonly<Record<Name, CoreFile>>,
  urls: Readonly<Record<NoInfer<Name>, string | URL>>,
  { onProgress = () => {}, cache = CORE_CACHE, stall_seconds = STALL_SECONDS, signal }: LoadOptions,
): Promise<Record<Name, Uint8Array<ArrayBuffer>>> {
  const names = Object.keys(files) as Name[];
  const loaded = new Map<Name, number>();
  const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);
  const total = sum(names.map((name) => files[name].size));
  let told = 0;
  // One that fails ends the others.
  const stop = new AbortController();
  const rest = {
    cache,
    stall_seconds,
    signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
  };
  const load = async (name: Name) => {
    const onBytes = (bytes: number) => {
      loaded.set(name, bytes);
      // A file that is loaded again, as the cached one was damaged, begins anew.
      if (sum(loaded.values()) <= told) return;
      told = sum(loaded.values());
      onProgress({ loaded: told, total });
    };
    return [name, await loadFile({ ...rest, url: urls[name], file: files[name], onBytes })] as const;
  };
  try {
    return Object.fromEntries(await Promise.all(names.map(load))) as Record<Name, Uint8Array<ArrayBuffer>>;
  } catch (thrown) {
    stop.abort();
    signal?.throwIfAborted();
    throw thrown;
  }
}
