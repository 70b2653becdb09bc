import type { StashOrder } from "./stash-worker.ts";

/**
 * Writes a stream to a file in the browser's own file system from a worker, for browsers that support no other way (Safari
 * before 26). Rejects with a DOMException, as the stream does, or with the signal's reason.
 */
export async function writeInWorker(
  path: readonly [folder: string, name: string],
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const worker = new Worker(new URL("./stash-worker.ts", import.meta.url), { type: "module" });
  // One at a time: the stream waits until its chunk is written.
  const order = (what: StashOrder) =>
    new Promise<void>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<string | null>) =>
        data === null ? resolve() : reject(new DOMException("The worker could not write.", data));
      worker.onerror = () => reject(new DOMException("The worker did not start.", "UnknownError"));
      worker.postMessage(what);
    });
  try {
    const file = new WritableStream<Uint8Array>({
      start: () => order({ path }),
      write: (piece) => order(piece),
      close: () => order("close"),
      abort: () => order("close"),
    });
    await stream.pipeTo(file, { signal });
  } finally {
    worker.terminate();
  }
}
