import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { type CoreLoadOptions, type LoadedCore, loadCore } from "../../src/encoders/wasm/load-core.ts";
import { createWasmPool, type WasmPool } from "../../src/encoders/wasm/wasm-pool.ts";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import { createPlan } from "../../src/media/index.ts";
import type { OptionsOf } from "../../src/media/options.ts";
import type { ByteReader, Durably } from "../../src/runs/ports.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { readAll } from "../../src/storage/storage.ts";
import { type Harm, harmfulWorkers } from "./harmful-workers.ts";

/** Where the lab serves the core. */
export const CORE = { wasm: "/files/core/ffmpeg-core.wasm.gz", glue: "/files/core/ffmpeg-core.js" } as const;

/** One encode by the pool in the page. */
export interface PoolTask<K extends EncodeKind = EncodeKind> {
  /** URL of the input. */
  clip: string;
  kind: K;
  options: OptionsOf<K>;
  /** Seconds of a chunk; the pool's own hint by default, and null for none. */
  chunk_seconds?: number | null;
}

/** Result of an encode in the page. */
export interface PoolResult {
  /** Names, and bytes as base64. */
  files: { name: string; base64: string }[];
  main: string;
  chunks: number;
  /** Percents, in order. */
  told: number[];
  /** Progress of each chunk, as the encoder reported it. */
  shares: { index: number; share: number }[];
  seconds: number;
}

let core: Promise<LoadedCore> | undefined;
let pool: WasmPool | undefined;
const workers: Worker[] = [];

/** Loads the core once for all pools of the page. */
export function sharedCore(options: CoreLoadOptions = {}): Promise<LoadedCore> {
  core ??= loadCore({ ...CORE, ...options });
  return core;
}

/** Opens a pool and closes the previous one; {@link poolWorkers} returns its workers. */
export function openPool(
  options: { workers?: number; silenceSeconds?: number; memory?: number; harm?: Harm } = {},
): WasmPool {
  pool?.close();
  workers.length = 0;
  const { harm, ...rest } = options;
  const start = harmfulWorkers(harm);
  pool = createWasmPool({
    workers: 2,
    ...rest,
    load: () => sharedCore(),
    createWorker() {
      const worker = start();
      workers.push(worker);
      return worker;
    },
  });
  return pool;
}

/** All workers that the pool has started, including terminated ones. */
export function poolWorkers(): readonly Worker[] {
  return workers;
}

/** Opens a file of the lab as a reader with its Blob. */
export async function openClip(url: string): Promise<ByteReader & { blob: Blob }> {
  const blob = await (await fetch(url)).blob();
  const read: ByteReader["read"] = async ({ start, end }) =>
    new Uint8Array(await blob.slice(start, end).arrayBuffer());
  return { blob, size: blob.size, read };
}

/** Probes, plans, encodes and stitches as the product does, with memory storage. */
export async function encodeInPool(task: PoolTask): Promise<PoolResult> {
  const encoder = pool ?? openPool();
  const input = await openClip(task.clip);
  const never = new AbortController().signal;
  const source = parseFfprobe(await encoder.probe(input, never), { url: task.clip, filesize: input.size });
  const whole = createPlan(source, task.kind, task.options);
  const refusal = encoder.refuse(whole, source);
  if (refusal !== null) throw new Error(refusal.code);
  const hint = task.chunk_seconds === undefined ? encoder.chunkSeconds(whole, source) : task.chunk_seconds;
  const plan = hint === null ? whole : createPlan(source, task.kind, task.options, { chunk_seconds: hint });
  const storage = createMemoryStorage();
  const keys: string[] = [];
  const told: number[] = [];
  const shares: PoolResult["shares"] = [];
  const started = performance.now();
  const result = await runEncode({
    ...{ id: "run", plan, source, work: "work/", out: "out/", name: "file" },
    encoder: {
      ...encoder,
      encode: (job) =>
        encoder.encode({
          ...job,
          onProgress(share) {
            shares.push({ index: job.chunk.index, share });
            job.onProgress?.(share);
          },
        }),
    },
    max_in_flight: encoder.workers,
    input: async () => input,
    storage: {
      ...storage,
      write(key, body, mime) {
        if (key.startsWith("out/")) keys.push(key);
        return storage.write(key, body, mime);
      },
    },
    durably: runOnce,
    progress: async (percent) => void (percent !== null && told.push(percent)),
  });
  const seconds = (performance.now() - started) / 1000;
  const files = keys.map(async (key) => {
    const stored = await storage.read(key);
    if (!stored) throw new Error(`${key} is not there.`);
    return { name: key.slice("out/".length), base64: await toBase64(await readAll(stored.body)) };
  });
  const main = result.key.slice("out/".length);
  return { files: await Promise.all(files), main, chunks: plan.chunks.length, told, shares, seconds };
}

const runOnce: Durably = (_name, work) => work(new AbortController().signal);

function toBase64(bytes: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^.*,/, ""));
    reader.readAsDataURL(new Blob([bytes as Uint8Array<ArrayBuffer>]));
  });
}
