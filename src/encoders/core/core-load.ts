import {
  CORE_FILES,
  CORE_MT_FILES,
  type CoreFile,
  FAST_CORE_FILES,
  VP9_CORE_FILES,
} from "./core-load-facts.ts";
import { loadFile } from "./core-load-file.ts";
import { freeBuffer } from "./free-buffer.ts";

/** A core, ready to be posted to any number of encoder workers. */
export interface LoadedCore {
  /** The wasm, compiled once; every encoder worker instantiates it. */
  module: WebAssembly.Module;
  /** The stock core's JavaScript glue, an ES module; the fast core has none. */
  glue?: Blob;
  /** The script that each thread loads; the threaded core alone has one. */
  threads?: Blob;
}

/** Download progress, in uncompressed bytes. */
export interface CoreProgress {
  loaded: number;
  total: number;
}

/** Options common to all cores. */
export interface LoadOptions {
  /** Called with the progress, from 0 bytes to all of them. */
  onProgress?: ((progress: CoreProgress) => void) | undefined;
  /**
   * Name of the cache that keeps the files for the next visit; null disables caching.
   *
   * @default `framewright-core`
   */
  cache?: string | null | undefined;
  /**
   * Seconds without a byte after which the load fails.
   *
   * @default 30
   */
  stallSeconds?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Where to load the core from. Each file may be plain or gzipped. */
export interface CoreLoadOptions extends LoadOptions {
  /**
   * URL of `ffmpeg-core.wasm`.
   *
   * @default the gzipped file that ships with this package
   */
  wasm?: string | URL | undefined;
  /**
   * URL of `ffmpeg-core.js` (ESM).
   *
   * @default the gzipped file that ships with this package
   */
  glue?: string | URL | undefined;
}

/** Where to load the fast core from. */
export interface FastCoreLoadOptions extends LoadOptions {
  /**
   * URL of `framewright-core.wasm`, plain or gzipped.
   *
   * @default the gzipped file that ships with this package
   */
  wasm?: string | URL | undefined;
}

/** Where to load the fast core for VP9. */
export interface Vp9CoreLoadOptions extends LoadOptions {
  /**
   * URL of `framewright-core-vp9.wasm`, plain or gzipped.
   *
   * @default the gzipped file that ships with this package
   */
  wasm?: string | URL | undefined;
}

/** Where to load the threaded core from, which this package does not ship. Each file may be plain or gzipped. */
export interface MtCoreLoadOptions extends LoadOptions {
  /** URLs of `ffmpeg-core.wasm`, `ffmpeg-core.js` (ESM) and `ffmpeg-core.worker.js` of `@ffmpeg/core-mt`. */
  wasm: string | URL;
  glue: string | URL;
  threads: string | URL;
}

/** Name of the default cache. */
export const CORE_CACHE = "framewright-core";
/** Default of `stallSeconds`. */
export const STALL_SECONDS = 30;

/**
 * Loads the stock core from the cache or the network, verifies that it is the exact build this package drives, and compiles
 * it. Rejects with `encoder_unavailable` when a file cannot be fetched (retryable), is truncated or has other contents.
 */
export async function loadCore(options: CoreLoadOptions = {}): Promise<LoadedCore & { glue: Blob }> {
  const wasm = options.wasm ?? new URL("../../../dist/core/ffmpeg-core.wasm.gz", import.meta.url);
  const glue = options.glue ?? new URL("../../../dist/core/ffmpeg-core.js.gz", import.meta.url);
  const loaded = await loadAll(CORE_FILES, { wasm, glue }, options);
  return { module: await compile(loaded.wasm), glue: script(loaded.glue) };
}

/** Loads the fast core; otherwise like {@link loadCore}. A package built without that core ships an empty file in its place. */
export async function loadFastCore(options: FastCoreLoadOptions = {}): Promise<LoadedCore> {
  const wasm = options.wasm ?? new URL("../../../dist/core/framewright-core.wasm.gz", import.meta.url);
  const loaded = await loadAll(FAST_CORE_FILES, { wasm }, options);
  return { module: await compile(loaded.wasm) };
}

/** Loads the fast core for VP9; otherwise like {@link loadFastCore}. */
export async function loadVp9Core(options: Vp9CoreLoadOptions = {}): Promise<LoadedCore> {
  const wasm = options.wasm ?? new URL("../../../dist/core/framewright-core-vp9.wasm.gz", import.meta.url);
  const loaded = await loadAll(VP9_CORE_FILES, { wasm }, options);
  return { module: await compile(loaded.wasm) };
}

/** Loads the threaded core; otherwise like {@link loadCore}. */
export async function loadMtCore(options: MtCoreLoadOptions): Promise<LoadedCore> {
  const loaded = await loadAll(CORE_MT_FILES, options, options);
  const module = await compile(loaded.wasm);
  return { module, glue: script(loaded.glue), threads: script(loaded.threads) };
}

// The compiled module has its own copy of the bytes.
async function compile(wasm: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(wasm);
  } finally {
    freeBuffer(wasm);
  }
}

function script(bytes: Uint8Array<ArrayBuffer>): Blob {
  return new Blob([bytes], { type: "text/javascript" });
}

async function loadAll<Name extends string>(
  files: Readonly<Record<Name, CoreFile>>,
  urls: Readonly<Record<NoInfer<Name>, string | URL>>,
  { onProgress = () => {}, cache = CORE_CACHE, stallSeconds = STALL_SECONDS, signal }: LoadOptions,
): Promise<Record<Name, Uint8Array<ArrayBuffer>>> {
  const names = Object.keys(files) as Name[];
  const loaded = new Map<Name, number>();
  const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);
  const total = sum(names.map((name) => files[name].size));
  let reported = 0;
  // The first failure stops the other downloads.
  const stop = new AbortController();
  const rest = {
    cache,
    stallSeconds,
    signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
  };
  const load = async (name: Name) => {
    const onBytes = (bytes: number) => {
      loaded.set(name, bytes);
      // A file counts from 0 again when its cached copy was damaged.
      if (sum(loaded.values()) <= reported) return;
      reported = sum(loaded.values());
      onProgress({ loaded: reported, total });
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
