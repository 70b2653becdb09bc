import { refuseTools, type Toolset, WASM_TOOLS } from "../../media/ffmpeg/toolset.ts";
import type { Plan } from "../../media/plan.ts";
import type { RefusalReason } from "../../media/refusal.ts";
import type { Source } from "../../media/source.ts";
import { estimateWork } from "../../media/work-estimate.ts";
import { MIB } from "../../util/bytes.ts";
import type { ChunkJob, EncodedFile, Encoder } from "../encoder.ts";
import * as errors from "../errors.ts";
import { loadMtCore, type MtCoreLoadOptions } from "./load-core.ts";
import { createPoolRun, followChunk, startEncoderWorker } from "./pool-run.ts";

/** Options of {@link createWasmMt}. */
export interface WasmMtOptions {
  /** Where to load the threaded core from; null when the page has none. */
  core: MtCoreLoadOptions | null;
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

/** The encoder that runs the threaded core, for H.265 only. */
export interface WasmMt extends Encoder {
  /** Encodes one chunk into a file in memory; rejects with a MediaError. */
  encode(job: ChunkJob): Promise<EncodedFile[]>;
  /** Terminates its worker and all of its threads. */
  close(): void;
}

const SILENCE_SECONDS = 30;
// Fixed by the build of the threaded core.
const MEMORY = 1024 * MIB;
// MiB per million pixels, and a base.
const HEAP = { decode: 20, encode: 200, base: 100 } as const;
// The core fails with six or more threads.
const MAX_THREADS = 4;

/**
 * Creates the encoder for H.265 on cross-origin isolated pages; it runs one job at a time, because every job starts its own threads.
 */
export function createWasmMt(options: WasmMtOptions): WasmMt {
  const { core, createWorker = startEncoderWorker, silenceSeconds = SILENCE_SECONDS } = options;
  const threads = Math.max(1, Math.min(MAX_THREADS, navigator.hardwareConcurrency ?? 1));
  const tools = mtTools(threads);
  const load = () => {
    if (!core) throw errors.threadedCoreMissing();
    return loadMtCore(core);
  };
  const pool = createPoolRun({ workers: 1, budget: MEMORY, cores: { threaded: load }, createWorker });

  return {
    name: "wasm-mt",
    refuse(plan, source) {
      if (plan.video?.mode !== "encode" || plan.video.codec !== "h265") return { code: "other_work" };
      if (!core) return { code: "not_configured" };
      if (!globalThis.crossOriginIsolated) return { code: "not_isolated" };
      return refuseTools(plan, source, tools) ?? refuseMemory(plan, source);
    },
    async encode(job) {
      const { plan, chunk, source } = job;
      const { files, tally } = await pool.run({
        ...followChunk(job),
        core: "threaded",
        work: { kind: "encode", plan, chunk, source, tools, memory: MEMORY },
        bytes: MEMORY,
        silenceSeconds,
      });
      job.onCounts?.(tally);
      return files;
    },
    close: pool.close,
  };
}

function mtTools(threads: number): Toolset {
  const args = (params: string) => ["-preset", "veryfast", "-x265-params", params, "-tag:v", "hvc1"];
  const defaults = `open-gop=0:log-level=error:frame-threads=1:pools=${threads}`;
  return {
    ...WASM_TOOLS,
    name: "the threaded wasm core",
    video: { h265: { encoder: "libx265", args: args(defaults) } },
    // cutree's look-ahead writes out of bounds on small pictures.
    small: { h265: { encoder: "libx265", args: args(`${defaults}:cutree=0`) } },
    minSide: { h265: 16 },
    input: ["-threads", "1", "-filter_complex_threads", "1"],
    output: ["-threads", String(threads)],
  };
}

function refuseMemory(plan: Plan, source: Source): RefusalReason | null {
  const { frame_decoded, frame_encoded } = estimateWork(plan, source);
  const megabytes = HEAP.base + (frame_decoded * HEAP.decode + frame_encoded * HEAP.encode) / 1e6;
  const needed_bytes = Math.ceil(megabytes * MIB);
  return needed_bytes <= MEMORY ? null : { code: "memory", needed_bytes, available_bytes: MEMORY };
}
