import type { RefusalReason } from "../../core/refusal.ts";
import type { Source } from "../../core/source.ts";
import { refuseTools, type Toolset, WASM_TOOLS } from "../../ffmpeg/toolset.ts";
import { estimateWork } from "../../plan/estimate.ts";
import type { Plan } from "../../plan/plan.ts";
import { MIB } from "../../util/bytes.ts";
import { loadMtCore, type MtCoreLoadOptions } from "../core/core-load.ts";
import type { ChunkJob, EncodedFile, Encoder } from "../encoder.ts";
import { createPoolRun, followChunk, startEncoderWorker } from "./wasm-pool-run.ts";

/** What the threaded encoder is made with. */
export interface WasmMtOptions {
  /** Where the threaded core comes from; null where the page has none. */
  core: MtCoreLoadOptions | null;
  /** Starts an encoder worker, `encoder-worker.ts`. */
  createWorker?: (() => Worker) | undefined;
  /** Seconds without a sign of life after which it is taken for hung; default 30. */
  silence_seconds?: number | undefined;
}

/** The encoder with the threaded core, for h265 alone. */
export interface WasmMt extends Encoder {
  /** Encodes one chunk, whose file lies in memory; rejects with a MediaError. */
  encode(job: ChunkJob): Promise<EncodedFile[]>;
  /** Ends its worker and all of its threads. */
  close(): void;
}

const SILENCE_SECONDS = 30;
// What the threaded core was built with.
const MEMORY = 1024 * MIB;
// By estimate, per million pixels of a picture, and beside them.
const HEAP = { decode: 20, encode: 200, base: 100 } as const;
// With six and more, the core fails.
const MOST_THREADS = 4;

/** Creates the encoder that takes h265 where the page is cross-origin isolated; one job at a time, as each has threads of its own. */
export function createWasmMt(options: WasmMtOptions): WasmMt {
  const { core, createWorker = startEncoderWorker, silence_seconds = SILENCE_SECONDS } = options;
  const threads = Math.max(1, Math.min(MOST_THREADS, navigator.hardwareConcurrency ?? 1));
  const tools = mtTools(threads);
  const load = () => {
    if (!core) throw new RangeError("There is no threaded core.");
    return loadMtCore(core);
  };
  const pool = createPoolRun({ workers: 1, budget: MEMORY, load, createWorker });

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
        work: { kind: "encode", plan, chunk, source, tools, memory: MEMORY },
        ...{ bytes: MEMORY, silence_seconds },
      });
      job.onTally?.(tally);
      return files;
    },
    close: pool.close,
  };
}

function mtTools(threads: number): Toolset {
  const args = (params: string) => ["-preset", "veryfast", "-x265-params", params, "-tag:v", "hvc1"];
  const usual = `open-gop=0:log-level=error:frame-threads=1:pools=${threads}`;
  return {
    ...WASM_TOOLS,
    name: "the threaded wasm core",
    video: { h265: { encoder: "libx265", args: args(usual) } },
    // It writes beyond its memory when it looks ahead at small pictures with cutree.
    small: { h265: { encoder: "libx265", args: args(`${usual}:cutree=0`) } },
    least: { h265: 16 },
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
