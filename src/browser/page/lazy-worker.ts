import type { Port } from "../rpc.ts";

/** A worker that starts when it is first needed. */
export interface LazyWorker extends Port {
  /** Whether the worker has yet to start. */
  readonly waits: boolean;
  /** Starts the worker unless it is running or was terminated. */
  start(): void;
  terminate(): void;
}

/** Creates a port to a worker that starts with the first message; `onStart` runs before that message is sent, and may send others. */
export function createLazyWorker(create: () => Worker, onStart: (worker: Worker) => void): LazyWorker {
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
    // callOver adds its listener before the worker exists.
    addEventListener: (_, listener) => void listeners.push(listener),
    terminate() {
      ended = true;
      worker?.terminate();
    },
  };
}
