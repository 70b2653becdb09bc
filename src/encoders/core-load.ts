import { CORE_FILES } from "./core-load-facts.ts";
import { loadFile } from "./core-load-file.ts";

/** The stock core, ready to be given to any number of encoder workers. */
export interface LoadedCore {
  /** The wasm, compiled once; every encoder worker makes an instance of its own. */
  module: WebAssembly.Module;
  /** Its glue, a module of JavaScript. */
  glue: Blob;
}

/** How far the load is, counted in unpacked bytes. */
export interface CoreProgress {
  loaded: number;
  total: number;
}

/** Where the core comes from. */
export interface CoreLoadOptions {
  /** URL of `ffmpeg-core.wasm`, as it is or packed with gzip; by default the packed one beside the package's own files. */
  wasm?: string | URL | undefined;
  /** URL of `ffmpeg-core.js` (ESM), as it is or packed with gzip; by default the one beside the package's own files. */
  glue?: string | URL | undefined;
  /** Is told of progress, from 0 bytes to all. */
  onProgress?: ((progress: CoreProgress) => void) | undefined;
  /** Name of the cache in which the files are kept for the next visit; null for none. Default `framewright-core`. */
  cache?: string | null | undefined;
  /** Seconds without a byte after which the load fails; default 30. */
  stall_seconds?: number | undefined;
  signal?: AbortSignal | undefined;
}

const CACHE = "framewright-core";
const STALL_SECONDS = 30;

/**
 * Loads the stock core, from the cache where it is there, checks that it is the very one that this package drives, and
 * compiles it. Rejects with `encoder_unavailable` when it cannot be fetched (retryable), or is another one, altered or cut off.
 */
export async function loadCore(options: CoreLoadOptions = {}): Promise<LoadedCore> {
  const { onProgress = () => {}, cache = CACHE, stall_seconds = STALL_SECONDS, signal } = options;
  const wasm = options.wasm ?? new URL("../../dist/core/ffmpeg-core.wasm.gz", import.meta.url);
  const glue = options.glue ?? new URL("../../dist/core/ffmpeg-core.js", import.meta.url);
  const loaded = { wasm: 0, glue: 0 };
  const total = CORE_FILES.wasm.size + CORE_FILES.glue.size;
  let told = -1;
  const tell = (file: keyof typeof loaded) => (bytes: number) => {
    loaded[file] = bytes;
    // A file that is loaded again, as the cached one was damaged, begins anew.
    if (loaded.wasm + loaded.glue <= told) return;
    told = loaded.wasm + loaded.glue;
    onProgress({ loaded: told, total });
  };
  // One that fails ends the other.
  const stop = new AbortController();
  const rest = {
    cache,
    stall_seconds,
    signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
  };
  try {
    const [script, module] = await Promise.all([
      loadFile({ ...rest, url: glue, file: CORE_FILES.glue, onBytes: tell("glue") }),
      loadFile({ ...rest, url: wasm, file: CORE_FILES.wasm, onBytes: tell("wasm") }).then((bytes) =>
        WebAssembly.compile(bytes),
      ),
    ]);
    return { module, glue: new Blob([script], { type: "text/javascript" }) };
  } catch (thrown) {
    stop.abort();
    signal?.throwIfAborted();
    throw thrown;
  }
}
