import { MediaError } from "../core/errors.ts";
import type { LoadedCore } from "./core-load.ts";
import type { CreateCore } from "./core-module.ts";
import { createBlobFile } from "./encoder-worker-file.ts";
import { failure, runWork, type WorkHost } from "./encoder-worker-job.ts";
import type { EncoderWork, FromEncoderWorker, ToEncoderWorker } from "./encoder-worker-wire.ts";
import { reuseInstance } from "./reuse-instance.ts";

// The code of an encoder worker: it is sent the core, and then work, one piece at a time. Nothing interrupts the core, so
// whoever wants it to stop ends the worker.

let host: Promise<WorkHost> | undefined;

addEventListener("message", ({ data }: MessageEvent<ToEncoderWorker>) => {
  if ("core" in data) host = start(data.core);
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

async function start({ module, glue }: LoadedCore): Promise<WorkHost> {
  const url = URL.createObjectURL(glue);
  const { default: createCore }: { default: CreateCore } = await import(/* @vite-ignore */ url);
  URL.revokeObjectURL(url);
  const keeper = reuseInstance(async (imports) => {
    const instance = await WebAssembly.instantiate(module, imports as WebAssembly.Imports);
    return instance as { exports: Record<string, unknown> };
  });
  let last = 0;
  return {
    createCore,
    keeper,
    alive(seconds) {
      const now = performance.now();
      if (now - last < EVERY_MS) return;
      last = now;
      say({ state: "alive", seconds });
    },
  };
}

function say(message: FromEncoderWorker, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}
