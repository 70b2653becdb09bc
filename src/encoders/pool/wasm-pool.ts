import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";
import type { Source } from "../../core/source.ts";
import type { Plan } from "../../plan/plan.ts";
import { GIB, MIB } from "../../util/bytes.ts";
import { type LoadedCore, loadCore } from "../core/core-load.ts";
import type { ChunkJob, EncodedFile, Encoder } from "../encoder.ts";
import type { FfprobeReport } from "../light/light-probe.ts";
import {
  memoryOf,
  poolChunkSeconds,
  poolTools,
  refusePool,
  silentSeconds,
  WORKER_MEMORY,
} from "./wasm-pool-cost.ts";
import { createPoolRun, followChunk, startEncoderWorker } from "./wasm-pool-run.ts";

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

const SILENCE_SECONDS = 30;
const PROBE_MEMORY = 256 * MIB;

/** Creates a pool, whose workers start when there is work for them. */
export function createWasmPool(options: WasmPoolOptions = {}): WasmPool {
  const workers = Math.max(1, options.workers ?? navigator.hardwareConcurrency ?? 1);
  const budget = options.memory ?? (deviceMemory() * GIB) / 2;
  const memory = Math.min(WORKER_MEMORY, budget);
  const silence = options.silence_seconds ?? SILENCE_SECONDS;
  const pool = createPoolRun({
    ...{ workers, budget },
    load: options.load ?? loadCore,
    createWorker: options.createWorker ?? startEncoderWorker,
  });

  return {
    name: "wasm",
    workers,
    refuse: (plan, source) => refusePool(plan, source, memory),
    chunkSeconds(plan, source) {
      const [chunk] = plan.chunks;
      const each = chunk ? memoryOf(plan, source, chunk, memory) : memory;
      return poolChunkSeconds(plan, Math.max(1, Math.min(workers, Math.floor(budget / each))));
    },
    async load() {
      await pool.load();
    },
    async encode(job) {
      const { plan, chunk, source } = job;
      const tools = poolTools(plan, source, memory);
      const { files, tally } = await pool.run({
        ...followChunk(job),
        work: { kind: "encode", plan, chunk, source, tools, memory },
        bytes: memoryOf(plan, source, chunk, memory),
        silence_seconds: silence + silentSeconds(plan, source),
      });
      job.onTally?.(tally);
      return files;
    },
    async probe(input, signal, onWait = () => {}) {
      const { report } = await pool.run({
        work: { kind: "probe", memory: Math.min(memory, PROBE_MEMORY) },
        ...{ input, signal, onWait, onSeconds: () => {} },
        bytes: PROBE_MEMORY,
        silence_seconds: silence,
      });
      if (!report) throw new MediaError("probe_failed", "The encoder worker gave no report.");
      return report;
    },
    close: pool.close,
  };
}

function deviceMemory(): number {
  return (navigator as { deviceMemory?: number }).deviceMemory ?? 4;
}
