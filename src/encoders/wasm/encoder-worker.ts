import { MediaError } from "../../media/errors.ts";
import { parseProgress } from "../../media/ffmpeg/run-log.ts";
import { readHeaderFacts } from "../../probe/picture-header.ts";
import * as errors from "../errors.ts";
import { mountInputs, runChunk } from "../light/light-job.ts";
import { reportOf, runProbe } from "../light/light-probe.ts";
import { checkBlob, createBlobFile, createBlobSpill } from "./blob-file.ts";
import type { SyncFile } from "./core-files.ts";
import { type CoreImports, type CreateCore, isExit, reuseInstance, startCore } from "./core-module.ts";
import { createFastCore } from "./fast-core.ts";
import { freeBuffer } from "./free-buffer.ts";
import type { LoadedCore } from "./load-core.ts";
import {
  createRunLog,
  createWasmCore,
  mountFile,
  type RunResult,
  takeFiles,
  type WasmCore,
} from "./stock-core.ts";
import {
  type EncoderWork,
  type FromEncoderWorker,
  type ToEncoderWorker,
  type WorkDone,
  type WorkerLease,
  watchLease,
} from "./worker-protocol.ts";

interface MtCoreOptions {
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
async function createMtCore(options: MtCoreOptions): Promise<WasmCore> {
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

// The glue reports nothing while its 32 threads start, which can take a minute; nothing else in this worker starts workers.
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

interface WorkHost {
  /** Creates a core with `memory` bytes for one job; calls `onThread` with each of its threads that has loaded. */
  createCore(memory: number, onLine: (line: string) => void, onThread: () => void): Promise<WasmCore>;
  /** Frees memory left by earlier jobs. */
  tidy(): void;
  /** Called from time to time with the output time in seconds; the message leaves the worker while the core runs. */
  alive(seconds: number | null): void;
}

const STATUS_SECONDS = 0.1;
const HEADER = 131_072;

/** Runs a job on a file and its extra files, on a core of its own. Rejects with a MediaError, after which the worker must not be used again. */
async function runWork(
  work: EncoderWork,
  [file, ...extra]: readonly [SyncFile, ...SyncFile[]],
  host: WorkHost,
): Promise<WorkDone> {
  if (work.kind === "encode") {
    const core = await startJobCore(work, host);
    mountInputs(core, work, file, extra);
    const encoded = runChunk(core, { ...work, status_seconds: STATUS_SECONDS });
    return { report: null, ...encoded, heap: core.heap };
  }
  const facts = readHeaderFacts(file.read(0, Math.min(file.size, HEADER)));
  try {
    return await probe("frame");
  } catch (thrown) {
    if (!(thrown instanceof MediaError && thrown.kind === "out_of_memory")) throw thrown;
    host.tidy();
  }
  return facts ? { report: reportOf(facts, file.size), files: [], tally: {}, heap: 0 } : probe("header");

  async function probe(depth: "frame" | "header"): Promise<WorkDone> {
    const core = await startJobCore(work, host);
    return { report: runProbe(core, file, facts, depth), files: [], tally: {}, heap: core.heap };
  }
}

function failure(thrown: unknown): Extract<FromEncoderWorker, { state: "error" }> {
  if (!(thrown instanceof MediaError)) return failure(errors.workerCrashed());
  const { kind, message, retryable, cause } = thrown;
  if (cause instanceof RangeError && kind === "worker_lost") return failure(errors.memoryUnavailable());
  // ffmpeg's verdict on a file holds on any core; a crash may not recur on a fresh one.
  const broken = kind === "worker_lost" || (kind === "encode_failed" && isBreakdown(cause));
  return { state: "error", kind, message, retryable, broken };
}

function isBreakdown(cause: unknown): boolean {
  return cause instanceof Error || cause === "stack" || cause === "no exit code";
}

async function startJobCore(work: EncoderWork, host: WorkHost): Promise<WasmCore> {
  return host.createCore(
    work.memory,
    (line) => host.alive(parseProgress(line)),
    () => host.alive(null),
  );
}

let host: Promise<WorkHost & CoreHost> | undefined;

addEventListener("message", ({ data }: MessageEvent<ToEncoderWorker>) => {
  if ("core" in data) host = start(data.core, watchLease(data.lease));
  else if ("end" in data) void host?.then(endWith);
  else void answer(data.work, data.files);
});

// Chromium interrupts Atomics.wait in a nested worker 2 seconds after terminate() and may leak both workers if the parent ends earlier.
const THREADS_MS = 4000;

function endWith({ endThreads }: CoreHost): void {
  endThreads();
  setTimeout(close, THREADS_MS);
}

async function answer(work: EncoderWork, [file, ...extra]: readonly [Blob, ...Blob[]]): Promise<void> {
  try {
    if (!host) throw errors.coreMissing();
    const ready = await host;
    ready.alive(null);
    const open = (blob: Blob) => createBlobFile(blob, () => ready.alive(null));
    const done = await runWork(work, [open(file), ...extra.map(open)], ready);
    for (const { front } of done.files) if (front) checkBlob(front);
    const buffers = new Set(done.files.map(({ bytes }) => bytes.buffer as ArrayBuffer));
    post({ state: "done", ...done }, [...buffers]);
  } catch (thrown) {
    post(failure(thrown));
  }
}

const EVERY_MS = 100;

async function start(core: LoadedCore, lease: WorkerLease): Promise<WorkHost & CoreHost> {
  let lastSign = Number.NEGATIVE_INFINITY;
  let lastTimed = Number.NEGATIVE_INFINITY;
  const host = core.glue ? await stockHost(core, core.glue, lease) : fastHost(core.module, lease);
  return {
    ...host,
    alive(seconds) {
      const now = performance.now();
      // A message without a time must not delay the next progress message.
      if (now - (seconds === null ? lastSign : lastTimed) < EVERY_MS) return;
      lastSign = now;
      if (seconds !== null) lastTimed = now;
      post({ state: "alive", seconds });
    },
  };
}

interface CoreHost extends Omit<WorkHost, "alive"> {
  endThreads(): void;
}

function fastHost(module: WebAssembly.Module, { guard }: WorkerLease): CoreHost {
  return {
    createCore: async (memory, onLine) =>
      createFastCore({ module, memory, onLine, guard, spill: createBlobSpill() }),
    tidy() {},
    endThreads() {},
  };
}

async function stockHost(
  { module, threads }: LoadedCore,
  script: Blob,
  lease: WorkerLease,
): Promise<CoreHost> {
  const glue = URL.createObjectURL(script);
  const { default: createCore } = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ glue
  );
  if (!threads) return singleHost(module, createCore, lease);
  const { guard } = lease;
  return threadedHost({ module, createCore, glue, threads: URL.createObjectURL(threads), guard });
}

function singleHost(module: WebAssembly.Module, createCore: CreateCore, lease: WorkerLease): CoreHost {
  const keeper = reuseInstance(async (imports) => {
    lease.guard(imports);
    const instance = await WebAssembly.instantiate(module, imports as WebAssembly.Imports);
    return instance as { exports: Record<string, unknown> };
  });
  const { instantiate } = keeper;
  return {
    createCore: (memory, onLine) => createWasmCore({ createCore, instantiate, memory, onLine, freeBuffer }),
    tidy: keeper.drop,
    endThreads() {},
  };
}

function threadedHost(options: Omit<MtCoreOptions, "memory" | `on${string}`>): CoreHost {
  let endThreads = () => {};
  return {
    createCore: (memory, onLine, onThread) =>
      createMtCore({
        ...options,
        memory,
        onLine,
        onThread,
        onThreads(end) {
          endThreads = end;
        },
      }),
    tidy() {},
    endThreads: () => endThreads(),
  };
}

function post(message: FromEncoderWorker, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}
