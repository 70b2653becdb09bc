import { MediaError } from "../core/errors.ts";
import type { LoadedCore } from "./core-load.ts";
import { CORE_NAMES, type CoreImports, type CreateCore } from "./core-module.ts";
import { createBlobFile } from "./encoder-worker-file.ts";
import { failure, runWork, type WorkHost } from "./encoder-worker-job.ts";
import type { EncoderWork, FromEncoderWorker, ToEncoderWorker } from "./encoder-worker-wire.ts";
import { reuseInstance } from "./reuse-instance.ts";
import { createWasmCore } from "./wasm-core.ts";
import { createMtCore, type MtCoreOptions } from "./wasm-mt-core.ts";

// The code of an encoder worker: it is sent the core, and then work, one piece at a time. Whoever wants it to stop ends the
// worker; but Chromium lets one that is busy go on for 2 seconds more, so it looks by itself whether it is still wanted.

let host: Promise<WorkHost> | undefined;

addEventListener("message", ({ data }: MessageEvent<ToEncoderWorker>) => {
  if ("core" in data) host = start(data.core, data.life);
  else void answer(data.work, data.file);
});

async function answer(work: EncoderWork, file: Blob): Promise<void> {
  try {
    if (!host) throw new MediaError("worker_lost", "The encoder worker has no core.");
    const ready = await host;
    const done = await runWork(
      work,
      createBlobFile(file, () => ready.alive(null)),
      ready,
    );
    // A file's bytes may be the front of a larger buffer, which nobody else needs.
    const buffers = new Set(done.files.map(({ bytes }) => bytes.buffer as ArrayBuffer));
    say({ state: "done", ...done }, [...buffers]);
  } catch (thrown) {
    say(failure(thrown));
  }
}

// Often enough for a smooth bar, and seldom enough to cost nothing.
const EVERY_MS = 100;

async function start(core: LoadedCore, life: string): Promise<WorkHost> {
  let last = 0;
  // A page may forbid such requests by its policy.
  const told = answers(life);
  const url = URL.createObjectURL(core.glue);
  const glue = await import(/* @vite-ignore */ url);
  const host = core.threads
    ? threadedHost(core.module, glue.default, url, URL.createObjectURL(core.threads))
    : singleHost(core.module, glue.default);
  return {
    ...host,
    alive(seconds) {
      const now = performance.now();
      if (now - last < EVERY_MS) return;
      last = now;
      if (told && !answers(life)) wanted = false;
      say({ state: "alive", seconds });
    },
  };
}

let wanted = true;

// Every line that ffmpeg prints comes this way, and what is thrown here ends the run: its logger's own errors would get lost.
function guardWrites(imports: CoreImports): void {
  for (const group of Object.values(imports)) {
    const write = group[CORE_NAMES.imports.write];
    if (!write) continue;
    group[CORE_NAMES.imports.write] = (...args) => {
      const written = write(...args);
      if (!wanted) throw new Error("The worker is not wanted any more.");
      return written;
    };
  }
}

type CoreHost = Omit<WorkHost, "alive">;

function singleHost(module: WebAssembly.Module, createCore: CreateCore): CoreHost {
  const keeper = reuseInstance(async (imports) => {
    guardWrites(imports);
    const instance = await WebAssembly.instantiate(module, imports as WebAssembly.Imports);
    return instance as { exports: Record<string, unknown> };
  });
  const { instantiate } = keeper;
  return {
    createCore: (memory, onLine) => createWasmCore({ createCore, instantiate, memory, onLine }),
    tidy: keeper.drop,
  };
}

function threadedHost(
  module: WebAssembly.Module,
  createCore: MtCoreOptions["createCore"],
  glue: string,
  threads: string,
): CoreHost {
  return {
    createCore: (memory, onLine) => createMtCore({ createCore, module, glue, threads, memory, onLine }),
    tidy() {},
  };
}

function answers(url: string): boolean {
  try {
    const request = new XMLHttpRequest();
    request.open("GET", url, false);
    request.send();
    return request.status === 200;
  } catch {
    return false;
  }
}

function say(message: FromEncoderWorker, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}
