import { MediaError } from "../core/errors.ts";
import type { ByteReader } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import type { Chunk, Plan } from "../plan/plan.ts";
import { type LoadedCore, loadCore } from "./core-load.ts";
import type { ChunkJob, EncodedFile, Encoder } from "./encoder.ts";
import type { EncoderWork, WorkDone } from "./encoder-worker-wire.ts";
import type { FfprobeReport } from "./light-probe.ts";
import { memoryOf, poolChunkSeconds, refusePool, silentSeconds, WORKER_MEMORY } from "./wasm-pool-cost.ts";
import { blobOf } from "./wasm-pool-input.ts";
import { createTurns } from "./wasm-pool-turns.ts";
import { createPoolWorker, type PoolWorker } from "./wasm-pool-worker.ts";

/** What a pool is made with. */
export interface WasmPoolOptions {
  /** Encoder workers at the most; by default as many as there are processors. */
  workers?: number | undefined;
  /** Bytes that all of them may take together, by estimate; by default half of the machine's memory as the browser tells it, or of 4 GB. */
  memory?: number | undefined;
  /** Loads the core, once; by default {@link loadCore} from beside the package's own files. */
  load?: (() => Promise<LoadedCore>) | undefined;
  /** Starts an encoder worker, `encoder-worker.ts`. */
  createWorker?: (() => Worker) | undefined;
  /** Seconds without a sign of life after which a worker is taken for hung; default 30. */
  silence_seconds?: number | undefined;
}

/** The pool of encoder workers, each with one stock core; it can also look into files. */
export interface WasmPool extends Encoder {
  /** Encoder workers at the most: so many jobs are worth being asked for at once. */
  readonly workers: number;
  /** Encodes one chunk, whose files lie in memory; rejects with a MediaError. */
  encode(job: ChunkJob): Promise<EncodedFile[]>;
  /** Gives what ffprobe says of a file; rejects with `input_unsupported` when it is no media. */
  probe(input: ByteReader, signal: AbortSignal, onWait?: () => void): Promise<FfprobeReport>;
  /** Seconds of source that a chunk of a plan should have, so that all workers get some; null where it is better left whole. A hint for `createPlan`. */
  chunkSeconds(plan: Plan, source: Source): number | null;
  /** Loads the core ahead of the first job; rejects with `encoder_unavailable`. */
  load(): Promise<void>;
  /** Ends all workers; their jobs, and all later ones, reject with `worker_lost`. */
  close(): void;
}

const GIB = 2 ** 30;
const SILENCE_SECONDS = 30;
const WAIT_MS = 1000;
const TRIES = 2;
// A heap never shrinks, so a worker whose heap has grown beyond this many bytes is not kept for the next job.
const WORN = 256 * 2 ** 20;
const PROBE_MEMORY = 256 * 2 ** 20;

/** Creates a pool, whose workers start when there is work for them. */
export function createWasmPool(options: WasmPoolOptions = {}): WasmPool {
  const workers = Math.max(1, options.workers ?? navigator.hardwareConcurrency ?? 1);
  const budget = options.memory ?? (deviceMemory() * GIB) / 2;
  const memory = Math.min(WORKER_MEMORY, budget);
  const silence = options.silence_seconds ?? SILENCE_SECONDS;
  const createWorker = options.createWorker ?? startWorker;
  const turns = createTurns(workers, budget);
  const idle: PoolWorker[] = [];
  const closed = new AbortController();
  let loading: Promise<LoadedCore> | null = null;

  function load(): Promise<LoadedCore> {
    loading ??= (options.load ?? loadCore)().catch((thrown: unknown) => {
      // The next job tries again.
      loading = null;
      throw thrown;
    });
    return loading;
  }

  async function run(job: Job): Promise<WorkDone> {
    const signal = AbortSignal.any([job.signal, closed.signal]);
    signal.throwIfAborted();
    const waiting = setInterval(job.onWait, WAIT_MS);
    let core: LoadedCore;
    let file: Blob;
    let end: () => void;
    try {
      [core, file] = await abortable(Promise.all([load(), blobOf(job.input, signal)]), signal);
      end = await turns.take(job.bytes, signal);
    } finally {
      clearInterval(waiting);
    }
    try {
      for (let left = TRIES - 1; ; left--) {
        const worker = idle.pop() ?? createPoolWorker(createWorker, core);
        const { silence_seconds, onSeconds } = job;
        const ended = await worker.run(job.work, file, { signal, silence_seconds, onSeconds });
        if ("done" in ended) {
          if (ended.done.heap > WORN) worker.close();
          else idle.push(worker);
          return ended.done;
        }
        if (left === 0 || !ended.again) throw ended.fault;
      }
    } finally {
      end();
    }
  }

  return {
    name: "wasm",
    workers,
    can: (plan, source) => refusePool(plan, source, memory),
    chunkSeconds(plan, source) {
      const [chunk] = plan.chunks;
      const each = chunk ? memoryOf(plan, source, chunk, memory) : memory;
      return poolChunkSeconds(plan, Math.max(1, Math.min(workers, Math.floor(budget / each))));
    },
    async load() {
      await load();
    },
    async encode({ plan, chunk, source, input, signal, onWait = () => {}, onProgress = () => {} }) {
      const length = lengthOf(plan, chunk);
      let told = 0;
      const { files } = await run({
        work: { kind: "encode", plan, chunk, source, memory },
        ...{ input, signal, onWait },
        bytes: memoryOf(plan, source, chunk, memory),
        silence_seconds: silence + silentSeconds(plan, source),
        onSeconds(seconds) {
          if (length === null) return;
          told = Math.max(told, Math.min(1, seconds / length));
          onProgress(told);
        },
      });
      return files;
    },
    async probe(input, signal, onWait = () => {}) {
      const { report } = await run({
        work: { kind: "probe", memory: Math.min(memory, PROBE_MEMORY) },
        ...{ input, signal, onWait, onSeconds: () => {} },
        bytes: PROBE_MEMORY,
        silence_seconds: silence,
      });
      if (!report) throw new MediaError("probe_failed", "The encoder worker gave no report.");
      return report;
    },
    close() {
      closed.abort(new MediaError("worker_lost", "The encoder was closed."));
      for (const worker of idle.splice(0)) worker.close();
    },
  };
}

interface Job {
  work: EncoderWork;
  input: ByteReader;
  signal: AbortSignal;
  /** Bytes that it takes, by estimate. */
  bytes: number;
  silence_seconds: number;
  onWait(): void;
  onSeconds(seconds: number): void;
}

// Spelled out so that bundlers find the worker.
function startWorker(): Worker {
  return new Worker(new URL("./encoder-worker.ts", import.meta.url), { type: "module" });
}

function deviceMemory(): number {
  return (navigator as { deviceMemory?: number }).deviceMemory ?? 4;
}

function lengthOf(plan: Plan, { start, end }: Chunk): number | null {
  const last = end ?? (plan.duration === null ? null : plan.start + plan.duration);
  return last === null || last <= start ? null : last - start;
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
