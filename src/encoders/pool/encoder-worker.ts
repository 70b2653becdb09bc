import { MediaError } from "../../core/errors.ts";
import type { LoadedCore } from "../core/core-load.ts";
import type { CreateCore } from "../core/core-module.ts";
import { freeBuffer } from "../core/free-buffer.ts";
import { reuseInstance } from "../core/reuse-instance.ts";
import { createWasmCore } from "../core/wasm-core.ts";
import { createMtCore, type MtCoreOptions } from "../core/wasm-mt-core.ts";
import { createFastCore } from "../fast/fast-core.ts";
import { checkBlob, createBlobFile, createBlobSpill } from "./encoder-worker-file.ts";
import { failure, runWork, type WorkHost } from "./encoder-worker-job.ts";
import { followLife, type WorkerLife } from "./encoder-worker-life.ts";
import type { EncoderWork, FromEncoderWorker, ToEncoderWorker } from "./encoder-worker-wire.ts";

// Entry point of an encoder worker: it receives the core, then jobs, one at a time. To cancel a job, terminate the worker.

let host: Promise<WorkHost & CoreHost> | undefined;

addEventListener("message", ({ data }: MessageEvent<ToEncoderWorker>) => {
  if ("core" in data) host = start(data.core, followLife(data.life));
  else if ("end" in data) void host?.then(endWith);
  else void answer(data.work, data.files);
});

// Chromium interrupts a nested worker in Atomics.wait from its parent, 2 seconds after terminate(), and may leak both if the parent has
// ended by then. On a busy machine, the parent's own timer is delayed along with that interrupt.
const THREADS_MS = 4000;

function endWith({ endThreads }: CoreHost): void {
  endThreads();
  setTimeout(close, THREADS_MS);
}

async function answer(work: EncoderWork, [file, ...further]: readonly [Blob, ...Blob[]]): Promise<void> {
  try {
    if (!host) throw new MediaError("worker_lost", "The encoder worker has no core.");
    const ready = await host;
    ready.alive(null);
    const open = (blob: Blob) => createBlobFile(blob, () => ready.alive(null));
    const done = await runWork(work, [open(file), ...further.map(open)], ready);
    for (const { front } of done.files) if (front) checkBlob(front);
    // A file's bytes may be the front of a larger buffer that nothing else needs.
    const buffers = new Set(done.files.map(({ bytes }) => bytes.buffer as ArrayBuffer));
    say({ state: "done", ...done }, [...buffers]);
  } catch (thrown) {
    say(failure(thrown));
  }
}

// Often enough for a smooth progress bar, at no measurable cost.
const EVERY_MS = 100;

async function start(core: LoadedCore, life: WorkerLife): Promise<WorkHost & CoreHost> {
  let lastSign = Number.NEGATIVE_INFINITY;
  let lastTimed = Number.NEGATIVE_INFINITY;
  const host = core.glue ? await stockHost(core, core.glue, life) : fastHost(core.module, life);
  return {
    ...host,
    alive(seconds) {
      const now = performance.now();
      // A sign of life without a time must not delay the next progress message.
      if (now - (seconds === null ? lastSign : lastTimed) < EVERY_MS) return;
      lastSign = now;
      if (seconds !== null) lastTimed = now;
      say({ state: "alive", seconds });
    },
  };
}

interface CoreHost extends Omit<WorkHost, "alive"> {
  endThreads(): void;
}

function fastHost(module: WebAssembly.Module, { guard }: WorkerLife): CoreHost {
  return {
    createCore: async (memory, onLine) =>
      createFastCore({ module, memory, onLine, guard, spill: createBlobSpill() }),
    tidy() {},
    endThreads() {},
  };
}

async function stockHost({ module, threads }: LoadedCore, script: Blob, life: WorkerLife): Promise<CoreHost> {
  const glue = URL.createObjectURL(script);
  const { default: createCore } = await import(
    /* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ glue
  );
  if (!threads) return singleHost(module, createCore, life);
  const { guard } = life;
  return threadedHost({ module, createCore, glue, threads: URL.createObjectURL(threads), guard });
}

function singleHost(module: WebAssembly.Module, createCore: CreateCore, life: WorkerLife): CoreHost {
  const keeper = reuseInstance(async (imports) => {
    life.guard(imports);
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
        ...{ ...options, memory, onLine, onThread },
        onThreads(end) {
          endThreads = end;
        },
      }),
    tidy() {},
    endThreads: () => endThreads(),
  };
}

function say(message: FromEncoderWorker, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}
