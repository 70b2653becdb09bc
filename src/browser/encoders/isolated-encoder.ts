import type { ChunkJob, EncodedFile, Encoder } from "../../encoders/encoder.ts";
import { startLeased } from "../../encoders/wasm/worker-protocol.ts";
import { blobOf, createBlobReader } from "../../storage/readers.ts";
import * as errors from "../errors.ts";
import { type Caller, callOver, type Port, serveOver } from "../rpc.ts";
import type { LocalEncoder } from "./local-offers.ts";

/** The methods of a worker with an encoder of its own, which runs one job at a time, including its stream. */
interface IsolatedApi {
  /** Returns the files, or null when a stream follows. */
  encode(job: Pick<ChunkJob, "plan" | "chunk" | "source">, file: Blob): Promise<EncodedFile[] | null>;
  /** Returns the next bytes of the stream; null at its end. */
  next(): Promise<Uint8Array | null>;
}

/** The finished share, from 0 to 1. */
type IsolatedEvent = number;

interface IsolatedWorker {
  name: string;
  end(): void;
  caller: Caller<IsolatedApi>;
  onShare(share: number): void;
}

/** How the caller follows one job. */
interface Watch {
  signal: AbortSignal;
  onProgress(share: number): void;
}

/**
 * Creates a runner of encoders in dedicated workers, which an abort terminates, because an encode cannot be interrupted and a damaged
 * source may keep it busy forever. A job fails as `stalled` if it reports no progress, result or bytes for `silenceSeconds`. Up to `workers`
 * idle workers stay ready for the next job.
 */
export function runIsolated(
  start: (lease: string) => Worker,
  { workers, silenceSeconds }: { workers: number; silenceSeconds: number },
): (encoder: LocalEncoder) => LocalEncoder {
  const idle: IsolatedWorker[] = [];

  function open(): IsolatedWorker {
    const { worker: port, end } = startLeased(start);
    const worker: IsolatedWorker = {
      name: "",
      end,
      caller: callOver(port, (share: IsolatedEvent) => worker.onShare(share)),
      onShare() {},
    };
    port.addEventListener("error", (event) => {
      event.preventDefault();
      worker.caller.fail(errors.encoderCrashed({ encoder: worker.name }));
    });
    return worker;
  }

  /** Terminates the worker when the job aborts, fails or stalls; each share of the progress shows that it works. */
  function guard<T>(worker: IsolatedWorker, { signal, onProgress }: Watch, work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const end = (reason: unknown) => {
      worker.end();
      reject(reason);
    };
    const aborted = () => end(signal.reason);
    const silent = () => end(errors.encoderSilent({ encoder: worker.name, seconds: silenceSeconds }));
    let timer = setTimeout(silent, silenceSeconds * 1000);
    worker.onShare = (share) => {
      clearTimeout(timer);
      timer = setTimeout(silent, silenceSeconds * 1000);
      onProgress(share);
    };
    if (signal.aborted) aborted();
    signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, end);
    return promise.finally(() => {
      clearTimeout(timer);
      worker.onShare = onProgress;
      signal.removeEventListener("abort", aborted);
    });
  }

  return (encoder) => ({
    ...encoder,
    workers,
    async encode({ plan, chunk, source, input, signal, onProgress = () => {} }) {
      const file = await blobOf(input, signal);
      signal.throwIfAborted();
      const worker = idle.pop() ?? open();
      worker.name = encoder.name;
      const { api } = worker.caller;
      const watch = { signal, onProgress };
      const files = await guard(worker, watch, api.encode({ plan, chunk, source }, file));
      if (files) {
        if (idle.length < workers) idle.push(worker);
        else worker.end();
        return files;
      }
      return new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            const bytes = await guard(worker, watch, api.next());
            if (bytes) return controller.enqueue(bytes);
            worker.end();
            controller.close();
          },
          cancel: () => worker.end(),
        },
        { highWaterMark: 0 },
      );
    },
  });
}

/** Serves an encoder to the media worker; call it once, while the worker's module loads. */
export function serveIsolated(encoder: Pick<Encoder, "encode">): void {
  let stream: ReadableStreamDefaultReader<Uint8Array> | null = null;
  const tell = serveOver<IsolatedApi, IsolatedEvent>(globalThis as unknown as Port, {
    async encode(job, file) {
      const { signal } = new AbortController();
      const encoded = await encoder.encode({
        ...job,
        input: createBlobReader(file),
        signal,
        onProgress: tell,
      });
      if (Array.isArray(encoded)) return encoded;
      if ("written" in encoded) return [];
      stream = encoded.getReader();
      return null;
    },
    async next() {
      const { done = true, value } = (await stream?.read()) ?? {};
      return done || !value ? null : value;
    },
  });
}
