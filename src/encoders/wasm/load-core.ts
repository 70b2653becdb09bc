import { MediaError } from "../../media/errors.ts";
import { BURN_FONT } from "../../media/features/subtitles.ts";
import { FONT_LIST, type FontFile, parseFontList, type ScriptFonts } from "../../subtitles/script-fonts.ts";
import { limitTime } from "../../util/async.ts";
import { sha256Hex } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import { CORE_FILES, CORE_MT_FILES, type CoreFile, FAST_CORE_FILES, VP9_CORE_FILES } from "./core-facts.ts";
import { freeBuffer } from "./free-buffer.ts";

/** A core, ready to be posted to any number of encoder workers. */
export interface LoadedCore {
  /** The wasm, compiled once; every encoder worker instantiates it. */
  module: WebAssembly.Module;
  /** The stock core's JavaScript glue, an ES module; the fast core has none. */
  glue?: Blob;
  /** The script that each thread loads; only the threaded core has one. */
  threads?: Blob;
}

/** Download progress, in uncompressed bytes. */
export interface CoreProgress {
  loaded: number;
  total: number;
}

interface LoadOptions {
  /** Called with the progress, from 0 bytes to the total. */
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

/** URLs of the threaded core, which this package does not ship. Each file may be plain or gzipped. */
export interface MtCoreLoadOptions extends LoadOptions {
  /** URLs of `ffmpeg-core.wasm`, `ffmpeg-core.js` (ESM) and `ffmpeg-core.worker.js` of `@ffmpeg/core-mt`. */
  wasm: string | URL;
  glue: string | URL;
  threads: string | URL;
}

/** Name of the default cache. */
export const CORE_CACHE = "framewright-core";
const STALL_SECONDS = 30;

/**
 * Loads the stock core from the cache or the network, verifies its hash, and compiles it. Rejects with `encoder_unavailable` when a file
 * cannot be fetched (retryable), is truncated or has other contents.
 */
export async function loadCore(options: CoreLoadOptions = {}): Promise<LoadedCore & { glue: Blob }> {
  const wasm = options.wasm ?? new URL("../../../dist/core/ffmpeg-core.wasm.gz", import.meta.url);
  const glue = options.glue ?? new URL("../../../dist/core/ffmpeg-core.js.gz", import.meta.url);
  const loaded = await loadAll(CORE_FILES, { wasm, glue }, options);
  return { module: await compile(loaded.wasm), glue: script(loaded.glue) };
}

/** Loads the fast core; otherwise like {@link loadCore}. A package built without that core ships an empty file instead. */
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
  const stop = new AbortController();
  const rest = {
    cache,
    stallSeconds,
    signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
  };
  const load = async (name: Name) => {
    const onBytes = (bytes: number) => {
      loaded.set(name, bytes);
      // A damaged cached copy restarts its file at 0.
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

export interface FileLoad {
  url: string | URL;
  /**
   * The role of the file in messages.
   *
   * @default `encoder core`
   */
  role?: string;
  /** The expected size and hash of the uncompressed file. */
  file: CoreFile;
  /** Name of the cache; null disables caching. */
  cache: string | null;
  /** Seconds without a byte after which the load fails. */
  stallSeconds: number;
  signal: AbortSignal;
  /** Receives the number of uncompressed bytes read so far. */
  onBytes(bytes: number): void;
}

/**
 * Loads a file, plain or gzipped, from the cache or the network, and returns it uncompressed and verified. Rejects with
 * `encoder_unavailable`.
 */
async function loadFile(load: FileLoad): Promise<Uint8Array<ArrayBuffer>> {
  const { url, cache } = load;
  const cached = await findCached(cache, url);
  if (cached?.body) {
    const bytes = await readFile(load, cached.body).catch(() => null);
    load.signal.throwIfAborted();
    if (bytes) return bytes;
  }
  const bytes = await fetchFile(load);
  void storeCached(cache, url, new Response(bytes));
  return bytes;
}

async function fetchFile(load: FileLoad): Promise<Uint8Array<ArrayBuffer>> {
  const stall = limitTime(load.stallSeconds * 1000, { signal: load.signal });
  try {
    const response = await fetch(load.url, { signal: stall.signal }).catch((cause: unknown) => {
      throw errors.fileUnloaded({ ...factsOf(load), fault: "unanswered", cause });
    });
    if (!response.ok || !response.body) {
      await response.body?.cancel();
      throw errors.fileUnloaded({ ...factsOf(load), fault: response.status });
    }
    return await readFile(load, response.body, stall.restart);
  } catch (thrown) {
    load.signal.throwIfAborted();
    throw stall.isOver ? errors.fileUnloaded({ ...factsOf(load), fault: "stalled" }) : thrown;
  } finally {
    stall.clear();
  }
}

async function readFile(
  load: FileLoad,
  body: ReadableStream<BufferSource>,
  onPart = () => {},
): Promise<Uint8Array<ArrayBuffer>> {
  const { file, onBytes } = load;
  let fault: unknown;
  const packed = watch(body, onPart, (thrown) => {
    fault = errors.fileUnloaded({ ...factsOf(load), fault: "disconnected", cause: thrown });
  });
  const bytes = new Uint8Array(file.size);
  let length = 0;
  const reader = (await unpack(packed)).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (length + value.length > bytes.length)
        throw errors.fileUnexpected({ ...factsOf(load), fault: "long" });
      bytes.set(value, length);
      length += value.length;
      freeBuffer(value);
      onBytes(length);
    }
  } catch (thrown) {
    // Cancelling the reader sets `fault` too.
    const broken = fault;
    await reader.cancel().catch(() => {});
    if (broken) throw broken;
    throw thrown instanceof MediaError
      ? thrown
      : errors.fileUnexpected({ ...factsOf(load), fault: "damaged", cause: thrown });
  }
  if (length < bytes.length) {
    throw errors.fileCutOff({ ...factsOf(load), bytes: length, expected: bytes.length });
  }
  if ((await sha256(bytes)) !== file.sha256) {
    throw errors.fileUnexpected({ ...factsOf(load), fault: "different" });
  }
  return bytes;
}

// The browser may have unpacked the gzip already (Content-Encoding), so look at the bytes.
async function unpack(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const [head, whole] = await peek(body);
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  return isGzip ? whole.pipeThrough(new DecompressionStream("gzip")) : whole;
}

async function peek(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<[Uint8Array, ReadableStream<Uint8Array<ArrayBuffer>>]> {
  const reader = body.getReader();
  const first = await reader.read().catch(() => ({ done: true, value: undefined }));
  const whole = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      if (first.value) controller.enqueue(first.value);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return [first.value ?? new Uint8Array(), whole];
}

function watch(
  body: ReadableStream<BufferSource>,
  onPart: () => void,
  onFault: (thrown: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        onPart();
        controller.enqueue(value as Uint8Array<ArrayBuffer>);
      } catch (thrown) {
        onFault(thrown);
        throw thrown;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (!globalThis.crypto?.subtle) throw errors.insecureContext();
  return sha256Hex(bytes);
}

// Messages name only the file, because the rest of a URL may contain a secret.
function factsOf({ url, role = "encoder core" }: Pick<FileLoad, "url" | "role">): {
  role: string;
  file: string;
} {
  const path = String(url).replace(/[?#].*$/, "");
  return { role, file: path.slice(path.lastIndexOf("/") + 1) };
}

async function findCached(name: string | null, url: string | URL): Promise<Response | null> {
  if (name === null) return null;
  try {
    return (await (await caches.open(name)).match(String(url))) ?? null;
  } catch {
    return null;
  }
}

/** Caches a file for the next visit; does nothing when the page has no cache or no room in it. */
async function storeCached(name: string | null, url: string | URL, file: Response): Promise<void> {
  if (name === null) return;
  try {
    const cache = await caches.open(name);
    await cache.put(String(url), file);
  } catch {
    // The next visit downloads it again.
  }
}

/** Where to load the font of burnt-in subtitles from. */
export interface FontLoadOptions extends Pick<LoadOptions, "cache"> {
  /**
   * URL of `dejavu-sans.bin`, gzipped, or of `DejaVuSans.ttf`.
   *
   * @default the file that ships with this package
   */
  font?: string | URL | undefined;
}

/** Loads the font of burnt-in subtitles, from the cache or the network; rejects with `encoder_unavailable`. */
export function loadFont({ font, cache = CORE_CACHE }: FontLoadOptions = {}): Promise<Uint8Array> {
  return loadFile({
    url: font ?? new URL("../../../dist/core/dejavu-sans.bin", import.meta.url),
    role: "font of subtitles",
    file: BURN_FONT,
    cache,
    ...ALONE,
  });
}

const ALONE = { stallSeconds: STALL_SECONDS, signal: new AbortController().signal, onBytes() {} } as const;

/** The folder from which a page loads the fonts of other scripts. */
export interface ScriptFontOptions extends Pick<LoadOptions, "cache"> {
  /** URL of the folder of fonts, ending with a slash; absent for none. */
  fonts?: string | URL | undefined;
}

/** Creates the fonts of a page for other scripts; undefined without a folder. Rejects with `encoder_unavailable` when a load fails. */
export function createScriptFonts({
  fonts: folder,
  cache = CORE_CACHE,
}: ScriptFontOptions): ScriptFonts | undefined {
  if (folder === undefined) return undefined;
  const urlOf = (name: string) => new URL(name, folder);
  let list: Promise<readonly FontFile[]> | null = null;
  const loadList = async () => {
    const load = { url: urlOf(FONT_LIST), role: "list of fonts" };
    const response = await fetch(load.url).catch((cause: unknown) => {
      throw errors.fileUnloaded({ ...factsOf(load), fault: "unanswered", cause });
    });
    if (!response.ok) throw errors.fileUnloaded({ ...factsOf(load), fault: response.status });
    return parseFontList(new Uint8Array(await response.arrayBuffer()));
  };
  return {
    list() {
      list ??= loadList().catch((thrown: unknown) => {
        list = null;
        throw thrown;
      });
      return list;
    },
    load: (file) => loadFile({ url: urlOf(file.name), role: "font of subtitles", file, cache, ...ALONE }),
  };
}
