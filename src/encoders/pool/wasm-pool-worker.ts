import { MediaError } from "../../core/errors.ts";
import type { LoadedCore } from "../core/core-load.ts";
import { startLiving } from "./encoder-worker-life.ts";
import type { EncoderWork, FromEncoderWorker, ToEncoderWorker, WorkDone } from "./encoder-worker-wire.ts";

/** How to watch a running job. */
export interface Following {
  signal: AbortSignal;
  /** Seconds without a sign of life after which the worker counts as hung. */
  silenceSeconds: number;
  /** Receives the output time, in seconds; 0 with a sign of life that has none. */
  onSeconds(seconds: number): void;
}

/** The outcome of a job; after a fault the worker is terminated. */
export type WorkEnd = { done: WorkDone } | { fault: MediaError; again: boolean };

export interface PoolWorker {
  /** Runs one job at a time. Rejects only when the signal aborts. */
  run(work: EncoderWork, files: readonly [Blob, ...Blob[]], following: Following): Promise<WorkEnd>;
  close(): void;
}

// Silence is counted in steps, so that a computer that slept does not make the worker look hung.
const STEPS = 10;
// How much longer a slow machine may take to start a worker than a working one may be silent.
const STARTING = 4;
// How long a worker with threads may take to end them and itself.
const THREADS_MS = 30_000;

export function createPoolWorker(create: () => Worker, core: LoadedCore): PoolWorker {
  const send = (message: ToEncoderWorker) => worker.postMessage(message);
  const { worker, end } = startLiving((life) => {
    const worker = create();
    worker.postMessage({ core, life } satisfies ToEncoderWorker);
    return worker;
  });
  // A worker with threads ends them first, then itself; the page ends it only if it does not.
  function close(): void {
    if (core.threads) worker.postMessage({ end: true } satisfies ToEncoderWorker);
    end(core.threads ? THREADS_MS : 0);
  }

  return {
    close,
    run(work, files, { signal, silenceSeconds, onSeconds }) {
      return new Promise<WorkEnd>((resolve, reject) => {
        let silent = STEPS - STARTING * STEPS;
        const timer = setInterval(
          () => {
            silent++;
            if (silent >= STEPS) fail(new MediaError("stalled", hung(silenceSeconds)), true);
          },
          (silenceSeconds * 1000) / STEPS,
        );
        signal.addEventListener("abort", abort, { once: true });
        worker.onmessage = ({ data }: MessageEvent<FromEncoderWorker>) => {
          silent = 0;
          if (data.state === "alive") {
            onSeconds(data.seconds ?? 0);
          } else if (data.state === "done") {
            settle();
            resolve({ done: data });
          } else {
            const { kind, message, retryable, broken } = data;
            fail(new MediaError(kind, message, { retryable }), broken);
          }
        };
        worker.onerror = (event) => {
          event.preventDefault();
          fail(new MediaError("worker_lost", "The encoder worker broke down."), true);
        };
        if (signal.aborted) abort();
        else send({ work, files });

        function settle(): void {
          clearInterval(timer);
          signal.removeEventListener("abort", abort);
          worker.onmessage = null;
          worker.onerror = null;
        }
        function abort(): void {
          settle();
          close();
          reject(signal.reason);
        }
        function fail(fault: MediaError, again: boolean): void {
          settle();
          close();
          resolve({ fault, again });
        }
      });
    },
  };
}

function hung(seconds: number): string {
  return `The encoder gave no sign of life for ${Math.round(seconds)} seconds.`;
}
