import { MediaError } from "../../media/errors.ts";
import { outputSeconds } from "../../media/plan.ts";
import type { ByteReader } from "../../runs/ports.ts";
import { blobOf } from "../../storage/readers.ts";
import { createSlotQueue, untilAborted } from "../../util/async.ts";
import { MIB } from "../../util/bytes.ts";
import type { ChunkJob } from "../encoder.ts";
import * as errors from "../errors.ts";
import type { LoadedCore } from "./load-core.ts";
import {
  type EncoderWork,
  type FromEncoderWorker,
  startLeased,
  type ToEncoderWorker,
  type WorkDone,
} from "./worker-protocol.ts";

export interface PoolRunOptions<Core extends string> {
  workers: number;
  /** Estimated bytes that all running jobs may take together. */
  budget: number;
  /** Loads each core; called when a job first needs it. */
  cores: Readonly<Record<Core, () => Promise<LoadedCore>>>;
  createWorker(): Worker;
}

export interface PoolJob<Core extends string> {
  core: Core;
  work: EncoderWork;
  input: ByteReader;
  extra?: readonly ByteReader[] | undefined;
  signal: AbortSignal;
  /** Estimated memory in bytes. */
  bytes: number;
  /** Seconds without a sign of life after which its worker counts as hung. */
  silenceSeconds: number;
  onWait(): void;
  onSeconds(seconds: number): void;
}

/** Runs jobs on encoder workers, which start on demand. */
export interface PoolRun<Core extends string> {
  load(core: Core): Promise<LoadedCore>;
  /** Runs a job in its turn, and once more if its core crashed or hung. Rejects with a MediaError. */
  run(job: PoolJob<Core>): Promise<WorkDone>;
  /** Terminates all workers; their jobs, and all later ones, reject with `worker_lost`. */
  close(): void;
}

const WAIT_MS = 1000;
const TRIES = 2;
const MAX_REUSED_HEAP = 256 * MIB;

export function createPoolRun<Core extends string>(options: PoolRunOptions<Core>): PoolRun<Core> {
  const { workers, budget, cores, createWorker } = options;
  const queue = createSlotQueue(workers, budget);
  const idle: { core: Core; worker: PoolWorker }[] = [];
  const closed = new AbortController();
  const loading = new Map<Core, Promise<LoadedCore>>();

  function load(core: Core): Promise<LoadedCore> {
    const pending = loading.get(core);
    if (pending) return pending;
    const loaded = cores[core]().catch((thrown: unknown) => {
      loading.delete(core);
      throw thrown;
    });
    loading.set(core, loaded);
    return loaded;
  }

  function takeWorker(name: Core, core: LoadedCore): PoolWorker {
    const index = idle.findIndex((each) => each.core === name);
    const [reused] = index < 0 ? [] : idle.splice(index, 1);
    if (reused) return reused.worker;
    if (idle.length >= workers) idle.shift()?.worker.close();
    return createPoolWorker(createWorker, core);
  }

  async function prepare(job: PoolJob<Core>, signal: AbortSignal) {
    const waiting = setInterval(job.onWait, WAIT_MS);
    try {
      const extra = Promise.all((job.extra ?? []).map((input) => blobOf(input, signal)));
      const loading = Promise.all([load(job.core), blobOf(job.input, signal), extra]);
      const [core, file, rest] = await untilAborted(loading, signal);
      return { core, files: [file, ...rest] as const, end: await queue.take(job.bytes, signal) };
    } finally {
      clearInterval(waiting);
    }
  }

  return {
    load,
    async run(job) {
      const signal = AbortSignal.any([job.signal, closed.signal]);
      signal.throwIfAborted();
      const { core, files, end } = await prepare(job, signal);
      try {
        for (let retries = TRIES - 1; ; retries--) {
          const worker = takeWorker(job.core, core);
          const { silenceSeconds, onSeconds } = job;
          const result = await worker.run(job.work, files, { signal, silenceSeconds, onSeconds });
          if ("done" in result) {
            if (result.done.heap > MAX_REUSED_HEAP) worker.close();
            else idle.push({ core: job.core, worker });
            return result.done;
          }
          if (retries === 0 || !result.retry) throw result.fault;
        }
      } finally {
        end();
      }
    },
    close() {
      closed.abort(errors.poolClosed());
      for (const { worker } of idle.splice(0)) worker.close();
    },
  };
}

/** Returns the part of a pool job that turns output times into the chunk's share, which never falls. */
export function followChunk({ plan, chunk, input, extra, signal, onWait = () => {}, onProgress }: ChunkJob) {
  const length = outputSeconds(plan, chunk);
  let best = 0;
  return {
    input,
    extra,
    signal,
    onWait,
    onSeconds(seconds: number) {
      if (length !== null) best = Math.max(best, Math.min(1, seconds / length));
      onProgress?.(best);
    },
  };
}

/** Starts an encoder worker. Bundlers look for exactly this expression. */
export function startEncoderWorker(): Worker {
  return new Worker(new URL("./encoder-worker.ts", import.meta.url), { type: "module" });
}

/** How to watch a running job. */
export interface RunWatch {
  signal: AbortSignal;
  /** Seconds without a sign of life after which the worker counts as hung. */
  silenceSeconds: number;
  /** Receives the output time, in seconds; 0 with a sign of life that has none. */
  onSeconds(seconds: number): void;
}

/** The outcome of a job; after a fault the worker is terminated. */
export type WorkEnd = { done: WorkDone } | { fault: MediaError; retry: boolean };

interface PoolWorker {
  /** Runs one job at a time. Rejects only when the signal aborts. */
  run(work: EncoderWork, files: readonly [Blob, ...Blob[]], following: RunWatch): Promise<WorkEnd>;
  close(): void;
}

// Silence is counted in steps, because a sleeping computer would otherwise make a worker look hung.
const STEPS = 10;
const START_FACTOR = 4;
const THREADS_MS = 30_000;

function createPoolWorker(create: () => Worker, core: LoadedCore): PoolWorker {
  const send = (message: ToEncoderWorker) => worker.postMessage(message);
  const { worker, end } = startLeased((lease) => {
    const worker = create();
    worker.postMessage({ core, lease } satisfies ToEncoderWorker);
    return worker;
  });
  function close(): void {
    if (core.threads) worker.postMessage({ end: true } satisfies ToEncoderWorker);
    end(core.threads ? THREADS_MS : 0);
  }

  return {
    close,
    run(work, files, { signal, silenceSeconds, onSeconds }) {
      return new Promise<WorkEnd>((resolve, reject) => {
        let silent = STEPS - START_FACTOR * STEPS;
        const timer = setInterval(
          () => {
            silent++;
            if (silent >= STEPS) fail(errors.workerSilent({ seconds: silenceSeconds }), true);
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
          fail(errors.workerCrashed(), true);
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
        function fail(fault: MediaError, retry: boolean): void {
          settle();
          close();
          resolve({ fault, retry });
        }
      });
    },
  };
}
