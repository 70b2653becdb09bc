import { MediaError } from "../../media/errors.ts";
import * as errors from "../errors.ts";
import { type CoreImports, type CreateCore, isExit, startCore } from "./core-module.ts";
import { createRunLog, mountFile, type RunResult, takeFiles, type WasmCore } from "./stock-core.ts";

export interface MtCoreOptions {
  /** The default export of `ffmpeg-core.js` of `@ffmpeg/core-mt`. */
  createCore: CreateCore;
  module: WebAssembly.Module;
  /** URLs of the glue, and of `ffmpeg-core.worker.js`, which each thread loads. */
  glue: string;
  threads: string;
  /** Bytes of its memory, which is fixed and shared by its threads. */
  memory: number;
  /** Modifies the core's imports before it is instantiated; `isRunning` returns false until the run starts. */
  guard?: (imports: CoreImports, isRunning: () => boolean) => void;
  /** Called with each line that a run prints, while it runs. */
  onLine?: (line: string) => void;
  /** Called once for each thread that has loaded. */
  onThread?: () => void;
  /** Called before the core starts; `end` terminates its threads, including those that start later. */
  onThreads?: (end: () => void) => void;
}

const PAGE = 65_536;

/**
 * Starts a threaded core for one job; it cannot run twice, and has no ffprobe.
 */
export async function createMtCore(options: MtCoreOptions): Promise<WasmCore> {
  const { createCore, module, glue, threads, memory, guard = () => {}, onThread = () => {} } = options;
  let used = false;
  const instantiate = async (imports: CoreImports) => {
    guard(imports, () => used);
    const instance = await WebAssembly.instantiate(module, imports as WebAssembly.Imports);
    return instance as { exports: Record<string, unknown> };
  };
  options.onThreads?.(watchThreads(onThread));
  const { core } = await startCore(createCore, instantiate, {
    module,
    mainScriptUrlOrBlob: `${glue}#${btoa(JSON.stringify({ wasmURL: "", workerURL: threads }))}`,
    INITIAL_MEMORY: Math.floor(memory / PAGE) * PAGE,
  });

  return {
    heap: memory,
    mount: (path, file) => mountFile(core.FS, path, file),
    exec(args): RunResult {
      if (used) throw errors.threadedCoreUsed();
      used = true;
      const log = createRunLog();
      core.setLogger(({ message }) => {
        log.add(message);
        options.onLine?.(message);
      });
      core.reset();
      const all = [...core.DEFAULT_ARGS, "-hide_banner", ...args];
      try {
        core._ffmpeg(all.length, core.stringsToPtr(all));
      } catch (thrown) {
        if (thrown instanceof MediaError) throw thrown;
        if (!isExit(thrown)) throw errors.threadedCoreCrashed({ cause: thrown });
      }
      if (core.ret === -1) throw errors.threadedCoreCrashed({ cause: "no exit code" });
      return { code: core.ret, log: log.lines };
    },
    ffprobe() {
      throw errors.threadedProbe();
    },
    makeFolder: (path) => core.FS.mkdir(path),
    take: (folder) => takeFiles(core.FS, folder).map(({ name, bytes }) => ({ name, bytes })),
  };
}

// The glue reports nothing while its 32 threads start, which takes a slow machine a minute. No other code here starts workers.
function watchThreads(onThread: () => void): () => void {
  const started = new Set<Worker>();
  let isOver = false;
  globalThis.Worker = class extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      started.add(this);
      this.addEventListener("message", onThread, { once: true });
      if (isOver) this.terminate();
    }
  };
  return () => {
    isOver = true;
    for (const thread of started) thread.terminate();
  };
}
