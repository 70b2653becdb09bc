import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";
import { outputSeconds } from "../../plan/plan.ts";
import { blobOf } from "../../storage/readers.ts";
import { untilAborted } from "../../util/async.ts";
import { MIB } from "../../util/bytes.ts";
import { createTurns } from "../../util/slot-queue.ts";
import type { LoadedCore } from "../core/core-load.ts";
import type { ChunkJob } from "../encoder.ts";
import type { EncoderWork, WorkDone } from "./encoder-worker-wire.ts";
import { createPoolWorker, type PoolWorker } from "./wasm-pool-worker.ts";

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
  further?: readonly ByteReader[] | undefined;
  signal: AbortSignal;
  /** Estimated bytes that it takes. */
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
// A heap never shrinks, so a worker whose heap exceeds this many bytes is not reused.
const WORN = 256 * MIB;

export function createPoolRun<Core extends string>(options: PoolRunOptions<Core>): PoolRun<Core> {
  const { workers, budget, cores, createWorker } = options;
  const turns = createTurns(workers, budget);
  const idle: { core: Core; worker: PoolWorker }[] = [];
  const closed = new AbortController();
  const loading = new Map<Core, Promise<LoadedCore>>();

  function load(core: Core): Promise<LoadedCore> {
    const known = loading.get(core);
    if (known) return known;
    const loaded = cores[core]().catch((thrown: unknown) => {
      // So that the next job tries again.
      loading.delete(core);
      throw thrown;
    });
    loading.set(core, loaded);
    return loaded;
  }

  function takeWorker(name: Core, core: LoadedCore): PoolWorker {
    const place = idle.findIndex((each) => each.core === name);
    const [found] = place < 0 ? [] : idle.splice(place, 1);
    if (found) return found.worker;
    // Workers with another core make room.
    if (idle.length >= workers) idle.shift()?.worker.close();
    return createPoolWorker(createWorker, core);
  }

  async function prepare(job: PoolJob<Core>, signal: AbortSignal) {
    const waiting = setInterval(job.onWait, WAIT_MS);
    try {
      const further = Promise.all((job.further ?? []).map((input) => blobOf(input, signal)));
      const loading = Promise.all([load(job.core), blobOf(job.input, signal), further]);
      const [core, file, rest] = await untilAborted(loading, signal);
      return { core, files: [file, ...rest] as const, end: await turns.take(job.bytes, signal) };
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
        for (let left = TRIES - 1; ; left--) {
          const worker = takeWorker(job.core, core);
          const { silenceSeconds, onSeconds } = job;
          const ended = await worker.run(job.work, files, { signal, silenceSeconds, onSeconds });
          if ("done" in ended) {
            if (ended.done.heap > WORN) worker.close();
            else idle.push({ core: job.core, worker });
            return ended.done;
          }
          if (left === 0 || !ended.again) throw ended.fault;
        }
      } finally {
        end();
      }
    },
    close() {
      closed.abort(new MediaError("worker_lost", "The encoder was closed."));
      for (const { worker } of idle.splice(0)) worker.close();
    },
  };
}

/** Returns the callbacks that turn output times into the chunk's share, which never falls. */
export function followChunk({
  plan,
  chunk,
  input,
  further,
  signal,
  onWait = () => {},
  onProgress,
}: ChunkJob) {
  const length = outputSeconds(plan, chunk);
  let best = 0;
  return {
    ...{ input, further, signal, onWait },
    onSeconds(seconds: number) {
      if (length !== null) best = Math.max(best, Math.min(1, seconds / length));
      onProgress?.(best);
    },
  };
}

/** Starts an encoder worker; the URL is spelled out so that bundlers find it. */
export function startEncoderWorker(): Worker {
  return new Worker(new URL("./encoder-worker.ts", import.meta.url), { type: "module" });
}
