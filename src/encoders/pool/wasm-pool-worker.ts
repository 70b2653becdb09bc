import { MediaError } from "../../core/errors.ts";
import type { LoadedCore } from "../core/core-load.ts";
import { startLiving } from "./encoder-worker-life.ts";
import type { EncoderWork, FromEncoderWorker, ToEncoderWorker, WorkDone } from "./encoder-worker-wire.ts";

/** How a piece of work is followed. */
export interface Following {
  /** Ends the worker at once. */
  signal: AbortSignal;
  /** Seconds without a sign of life after which the worker is taken for hung. */
  silence_seconds: number;
  /** Is told the time of output, in seconds. */
  onSeconds(seconds: number): void;
}

/** How a piece of work ended; after a fault the worker is gone. */
export type WorkEnd = { done: WorkDone } | { fault: MediaError; again: boolean };

/** One encoder worker of a pool. */
export interface PoolWorker {
  /** Does one piece of work; never two at once. Rejects only when the signal aborts. */
  run(work: EncoderWork, file: Blob, following: Following): Promise<WorkEnd>;
  /** Ends the worker, whatever it does. */
  close(): void;
}

// The silence is counted in steps, so that a machine that slept is not taken for a worker that hangs.
const STEPS = 10;
// Twice the 2 seconds.
const THREADS_MS = 4000;

/** Puts a core into a new encoder worker. */
export function createPoolWorker(create: () => Worker, core: LoadedCore): PoolWorker {
  const send = (message: ToEncoderWorker) => worker.postMessage(message);
  const { worker, end } = startLiving((life) => {
    const worker = create();
    worker.postMessage({ core, life } satisfies ToEncoderWorker);
    return worker;
  });
  // Chromium may never end a worker together with its own workers while one of them is in Atomics.wait: it interrupts that from
  // the outer one, after 2 seconds. So a threaded core ends its threads first.
  function close(): void {
    if (core.threads) worker.postMessage({ end: true } satisfies ToEncoderWorker);
    end(core.threads ? THREADS_MS : 0);
  }

  return {
    close,
    run(work, file, { signal, silence_seconds, onSeconds }) {
      return new Promise<WorkEnd>((resolve, reject) => {
        let silent = 0;
        const timer = setInterval(
          () => {
            silent++;
            if (silent >= STEPS) fail(new MediaError("stalled", hung(silence_seconds)), true);
          },
          (silence_seconds * 1000) / STEPS,
        );
        signal.addEventListener("abort", abort, { once: true });
        worker.onmessage = ({ data }: MessageEvent<FromEncoderWorker>) => {
          silent = 0;
          if (data.state === "alive") {
            if (data.seconds !== null) onSeconds(data.seconds);
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
        else send({ work, file });

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
