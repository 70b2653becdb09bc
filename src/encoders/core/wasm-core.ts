import { MediaError } from "../../core/errors.ts";
import { MIB } from "../../util/bytes.ts";
import { mountFile, takeFile, takeFiles } from "./core-files.ts";
import { CORE_NAMES, type CreateCore, type Instantiate } from "./core-module.ts";
import { isExit, startCore } from "./core-start.ts";
import { createMemoryBound } from "./memory-bound.ts";
import { PageMiss, type SyncFile } from "./paged-file.ts";
import { createRunLog } from "./run-log.ts";

export interface WasmCoreOptions {
  /** The default export of the stock `ffmpeg-core.js`. */
  createCore: CreateCore;
  /** Instantiates the stock `ffmpeg-core.wasm`. */
  instantiate: Instantiate;
  /** Limit in bytes on heap, input and output together. */
  memory: number;
  /** Receives each line that a run prints, while it runs. */
  onLine?: (line: string) => void;
  /** Receives memory that is no longer used; by default the garbage collector reclaims it. */
  freeBuffer?: (bytes: Uint8Array<ArrayBuffer>) => void;
}

export interface RunResult {
  /** Exit code; 0 on success. */
  code: number;
  /** The last lines it printed, without URLs. */
  log: readonly string[];
}

export interface WrittenFile {
  /** Path relative to the folder passed to `take`. */
  name: string;
  bytes: Uint8Array;
  /** What comes before `bytes`, where the file was too large to stay in memory. */
  front?: Blob;
}

/** An ffmpeg instance for one job. */
export interface WasmCore {
  /** Bytes of the heap, which only grows. */
  readonly heap: number;
  /** Mounts a file under a path such as `/in/input` without copying it. */
  mount(path: string, file: SyncFile): void;
  /**
   * Runs ffmpeg. Throws `out_of_memory`, `encode_failed` when it crashes, or {@link PageMiss}; after a throw, the core
   * must not be used again.
   */
  exec(args: readonly string[]): RunResult;
  /** Runs ffprobe and returns its JSON report, or null when it cannot read the file. Throws as `exec` does. */
  ffprobe(args: readonly string[]): { report: Record<string, unknown> | null; log: readonly string[] };
  makeFolder(path: string): void;
  /** Passes a file's bytes on as they are written, in place of keeping them; absent where a core keeps all that it writes. */
  pour?(path: string, onBytes: (bytes: Uint8Array) => void): void;
  /** Removes the files below a folder from the core and returns them. */
  take(folder: string): WrittenFile[];
}

// The stock core's stack has 64 KiB; the MJPEG and VP9 encoders need 80 to 95 (measured by painting it) and would overwrite what
// lies below. So every run gets this one, ten times the most that any codec was seen to use.
const STACK = MIB;
const CANARY = 1024;
const PAINT = 0xa5;
const REPORT = "/probe.json";

/** Starts a fresh core: the unmodified npm package with a stack of its own, no network, and a limit on its memory. */
export async function createWasmCore(options: WasmCoreOptions): Promise<WasmCore> {
  const bound = createMemoryBound(options.memory);
  const { core, exports } = await startCore(options.createCore, (imports) => {
    bound.guardImports(imports);
    closeNetwork(imports);
    return options.instantiate(imports);
  });
  const memory = exports[CORE_NAMES.exports.memory] as WebAssembly.Memory;
  const restoreStack = exports[CORE_NAMES.exports.stackRestore] as (pointer: number) => void;
  bound.guardMemory(memory);
  bound.guardFiles(core.FS, options.freeBuffer);

  const stack = core._malloc(STACK);
  const top = (stack + STACK) & ~15;
  const canary = () => new Uint8Array(memory.buffer, stack, CANARY);
  canary().fill(PAINT);
  let broken = false;

  function run(tool: "_ffmpeg" | "_ffprobe", args: readonly string[]): RunResult {
    if (broken) throw new MediaError("encode_failed", "The encoder broke down in an earlier run.");
    const log = createRunLog();
    core.setLogger(({ message }) => {
      log.add(message);
      options.onLine?.(message);
    });
    core.reset();
    restoreStack(top);
    broken = true;
    try {
      core[tool](args.length, core.stringsToPtr(args));
    } catch (thrown) {
      if (thrown instanceof MediaError || thrown instanceof PageMiss) throw thrown;
      if (!isExit(thrown)) throw breakdown(thrown, log.summary());
    }
    if (!canary().every((byte) => byte === PAINT)) throw breakdown("stack", log.summary());
    broken = false;
    return { code: core.ret, log: log.lines };
  }

  return {
    get heap() {
      return bound.heap;
    },
    mount(path, file) {
      bound.charge(file.held);
      mountFile(core.FS, path, file);
    },
    exec(args) {
      const result = run("_ffmpeg", [...core.DEFAULT_ARGS, "-hide_banner", ...args]);
      if (result.code === -1) throw breakdown("no exit code", result.log.at(-1) ?? "");
      return result;
    },
    // ffprobe always exits with -1, so the report decides.
    ffprobe(args) {
      const { log } = run("_ffprobe", [
        ...core.DEFAULT_ARGS_FFPROBE,
        ...["-hide_banner", "-of", "json", "-o", REPORT],
        ...args,
      ]);
      const report = parseReport(takeFile(core.FS, REPORT));
      return { report, log };
    },
    makeFolder: (path) => core.FS.mkdir(path),
    take(folder) {
      return takeFiles(core.FS, folder).map(({ name, bytes, capacity }) => {
        bound.charge(-capacity);
        return { name, bytes };
      });
    },
  };
}

// Playlists and scripts among the inputs may name hosts; without sockets none is reachable.
function closeNetwork(imports: Parameters<Instantiate>[0]): void {
  const EACCES = 2;
  for (const group of Object.values(imports)) {
    if (CORE_NAMES.imports.socket in group) group[CORE_NAMES.imports.socket] = () => -EACCES;
  }
}

function breakdown(cause: unknown, summary: string): MediaError {
  const detail = summary ? ` Its last words: ${summary}` : "";
  return new MediaError("encode_failed", `The encoder broke down on this file.${detail}`, { cause });
}

function parseReport(file: { bytes: Uint8Array }): Record<string, unknown> | null {
  try {
    const report = JSON.parse(new TextDecoder().decode(file.bytes)) as Record<string, unknown>;
    return Object.keys(report).length > 0 ? report : null;
  } catch {
    return null;
  }
}
