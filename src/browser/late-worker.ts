import type { Port } from "./rpc.ts";

/** A worker that is started when it is first needed. */
export interface LateWorker extends Port {
  /** Whether the next message starts it. */
  readonly waits: boolean;
  /** Starts the worker if it does not run yet, and was not ended. */
  start(): void;
  terminate(): void;
}

/** Builds a port to a worker that the first message to it starts; `onStart` is told before that message goes out, and may send others. */
export function createLateWorker(create: () => Worker, onStart: (worker: Worker) => void): LateWorker {
  const listeners: ((event: { data: unknown }) => void)[] = [];
  let worker: Worker | null = null;
  let ended = false;

  function start(): void {
    if (worker || ended) return;
    worker = create();
    for (const listener of listeners) worker.addEventListener("message", listener);
    onStart(worker);
  }

  return {
    get waits() {
      return !worker && !ended;
    },
    start,
    postMessage(message) {
      start();
      worker?.postMessage(message);
    },
    // The one that callOver adds is there before the worker is.
    addEventListener: (_, listener) => void listeners.push(listener),
    terminate() {
      ended = true;
      worker?.terminate();
    },
  };
}
