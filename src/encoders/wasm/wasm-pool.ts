import { FAST_TOOLS, VP9_TOOLS, WASM_TOOLS } from "../../media/ffmpeg/toolset.ts";
import type { VideoCodec } from "../../media/formats.ts";
import type { Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import type { ByteReader } from "../../runs/ports.ts";
import { GIB, MIB } from "../../util/bytes.ts";
import type { ChunkJob, EncodedFile, Encoder } from "../encoder.ts";
import * as errors from "../errors.ts";
import type { FfprobeReport } from "../light/light-probe.ts";
import { SPILLED_OUTPUT } from "./core-files.ts";
import { type LoadedCore, loadCore, loadFastCore, loadVp9Core } from "./load-core.ts";
import { createPoolRun, followChunk, startEncoderWorker } from "./pool-run.ts";
import {
  memoryOf,
  poolChunkSeconds,
  poolTools,
  refusePool,
  silentSeconds,
  WORKER_MEMORY,
} from "./wasm-pool-cost.ts";
import type { PoolFile } from "./worker-protocol.ts";

/** Options of {@link createWasmPool}. */
export interface WasmPoolOptions {
  /**
   * Maximum number of encoder workers.
   *
   * @default the number of processors
   */
  workers?: number | undefined;
  /**
   * Estimated bytes that all workers may take together.
   *
   * @default half of the memory that the browser reports, or of 4 GB
   */
  memory?: number | undefined;
  /**
   * Loads the stock core; called once.
   *
   * @default {@link loadCore} with the files that ship with this package
   */
  load?: (() => Promise<LoadedCore>) | undefined;
  /**
   * Loads the fast core; called once.
   *
   * @default {@link loadFastCore} with the file that ships with this package
   */
  loadFast?: (() => Promise<LoadedCore>) | undefined;
  /**
   * Loads the fast core for VP9; called once.
   *
   * @default {@link loadVp9Core} with the file that ships with this package
   */
  loadVp9?: (() => Promise<LoadedCore>) | undefined;
  /**
   * Starts an encoder worker from `encoder-worker.ts`.
   *
   * @default the one that ships with this package
   */
  createWorker?: (() => Worker) | undefined;
  /**
   * Seconds without a sign of life after which a worker counts as hung.
   *
   * @default 30
   */
  silenceSeconds?: number | undefined;
}

/** An encoder on the pool's workers. */
export interface PoolEncoder extends Encoder {
  /** Maximum number of encoder workers, and so the number of jobs worth running in parallel. */
  readonly workers: number;
  /** Encodes one chunk into files in memory, or into a stream if the file is too large; rejects with a MediaError. */
  encode(job: ChunkJob): Promise<EncodedFile[] | ReadableStream<Uint8Array>>;
  /**
   * Returns the seconds of source that a chunk of a plan should span to occupy all workers; null when the plan is better left whole.
   * A hint for `createPlan`.
   */
  chunkSeconds(plan: Plan, source: Source): number | null;
}

/**
 * The encoder "fast", on this project's own cores, one for H.264 and sound and one for VP9: several times faster than the
 * stock core. A package built without them refuses all plans.
 */
export interface FastEncoder extends PoolEncoder {
  /** Loads the core for a plan, so that `refuse` knows whether it is available. Never rejects. */
  prepare(plan: Plan, source: Source): Promise<void>;
}

/** A pool of encoder workers, each with one core: the encoder "wasm", on the stock core, which can also probe files. */
export interface WasmPool extends PoolEncoder {
  /** The encoder that runs the fast cores in the same workers; all jobs share one queue. */
  readonly fast: FastEncoder;
  /** Returns ffprobe's report on a file; rejects with `input_unsupported` when it is not media. */
  probe(input: ByteReader, signal: AbortSignal, onWait?: () => void): Promise<FfprobeReport>;
  /** Loads the stock core before the first job needs it; rejects with `encoder_unavailable`. */
  load(): Promise<void>;
  /** Terminates all workers; their jobs, and all later ones, reject with `worker_lost`. */
  close(): void;
}

const TOOLS = { stock: WASM_TOOLS, fast: FAST_TOOLS, vp9: VP9_TOOLS } as const;
const MAX_OUTPUT_MEMORY = {
  stock: Number.POSITIVE_INFINITY,
  fast: SPILLED_OUTPUT,
  vp9: SPILLED_OUTPUT,
} as const;
const FAST_CORES: Partial<Record<VideoCodec, keyof typeof TOOLS>> = { vp9: "vp9" };
const SILENCE_SECONDS = 30;
const PROBE_MEMORY = 256 * MIB;

/** Creates a pool whose workers start on demand. */
export function createWasmPool(options: WasmPoolOptions = {}): WasmPool {
  const workers = Math.max(1, options.workers ?? navigator.hardwareConcurrency ?? 1);
  const budget = options.memory ?? (deviceMemory() * GIB) / 2;
  const memory = Math.min(WORKER_MEMORY, budget);
  const silence = options.silenceSeconds ?? SILENCE_SECONDS;
  const pool = createPoolRun({
    workers,
    budget,
    cores: {
      stock: options.load ?? loadCore,
      fast: options.loadFast ?? loadFastCore,
      vp9: options.loadVp9 ?? loadVp9Core,
    },
    createWorker: options.createWorker ?? startEncoderWorker,
  });

  function encoderOn(coreOf: (plan: Plan) => keyof typeof TOOLS): Omit<PoolEncoder, "name"> {
    return {
      workers,
      refuse(plan, source) {
        const core = coreOf(plan);
        return refusePool(plan, source, { memory, tools: TOOLS[core], maxOutput: MAX_OUTPUT_MEMORY[core] });
      },
      chunkSeconds(plan, source) {
        const [chunk] = plan.chunks;
        const each = chunk
          ? memoryOf(plan, source, chunk, { memory, maxOutput: MAX_OUTPUT_MEMORY[coreOf(plan)] })
          : memory;
        return poolChunkSeconds(plan, Math.max(1, Math.min(workers, Math.floor(budget / each))));
      },
      async encode(job) {
        const { plan, chunk, source } = job;
        const core = coreOf(plan);
        const tools = poolTools(plan, source, memory, TOOLS[core]);
        const { files, tally } = await pool.run({
          ...followChunk(job),
          core,
          work: { kind: "encode", plan, chunk, source, tools, memory },
          bytes: memoryOf(plan, source, chunk, { memory, maxOutput: MAX_OUTPUT_MEMORY[core] }),
          silenceSeconds: silence + silentSeconds(plan, source),
        });
        job.onCounts?.(tally);
        return joinFiles(files);
      },
    };
  }

  const { refuse, ...fast } = encoderOn(fastCoreOf);
  const loaded = new Set<keyof typeof TOOLS>();
  return {
    name: "wasm",
    ...encoderOn(() => "stock"),
    fast: {
      name: "fast",
      ...fast,
      async prepare(plan, source) {
        if (refuse(plan, source)) return;
        const core = fastCoreOf(plan);
        await pool.load(core).then(
          () => loaded.add(core),
          () => loaded.delete(core),
        );
      },
      refuse(plan, source) {
        const refusal = refuse(plan, source);
        if (plan.image || refusal?.code === "output_codec") return { code: "other_work" };
        return refusal ?? (loaded.has(fastCoreOf(plan)) ? null : { code: "not_loaded" });
      },
    },
    async load() {
      await pool.load("stock");
    },
    async probe(input, signal, onWait = () => {}) {
      const { report } = await pool.run({
        core: "stock",
        work: { kind: "probe", memory: Math.min(memory, PROBE_MEMORY) },
        input,
        signal,
        onWait,
        onSeconds: () => {},
        bytes: PROBE_MEMORY,
        silenceSeconds: silence,
      });
      if (!report) throw errors.reportMissing();
      return report;
    },
    close: pool.close,
  };
}

async function joinFiles(files: readonly PoolFile[]): Promise<EncodedFile[] | ReadableStream<Uint8Array>> {
  const [first] = files;
  if (first?.front && files.length === 1) return toBlob(first).stream();
  return Promise.all(
    files.map(async ({ front, ...file }) =>
      front ? { ...file, bytes: new Uint8Array(await toBlob({ ...file, front }).arrayBuffer()) } : file,
    ),
  );
}

function toBlob({ front, bytes }: PoolFile): Blob {
  return new Blob([...(front ? [front] : []), bytes as Uint8Array<ArrayBuffer>]);
}

function fastCoreOf({ video }: Plan): keyof typeof TOOLS {
  return (video?.mode === "encode" && FAST_CORES[video.codec]) || "fast";
}

function deviceMemory(): number {
  return (navigator as { deviceMemory?: number }).deviceMemory ?? 4;
}
