import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { MediaError } from "../../../src/core/errors.ts";
import type { Source } from "../../../src/core/source.ts";
import { createPagedFile, PageMiss } from "../../../src/encoders/core/paged-file.ts";
import type { WrittenFile } from "../../../src/encoders/core/wasm-core.ts";
import { createFastCore } from "../../../src/encoders/fast/fast-core.ts";
import { type EncodedChunk, runChunk } from "../../../src/encoders/light/light-chunk.ts";
import { FAST_TOOLS, VP9_TOOLS } from "../../../src/ffmpeg/toolset.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { damage } from "./damage.ts";

/** Work for the fast core, over one input at `/in/input`. */
export interface FastTask {
  /** Path of the built core. */
  core: string;
  /** Path of the input. */
  input: string;
  /** Seed of damage to the input; 0 when absent, which leaves it whole. */
  damage?: number;
  /** Arguments of each run; they write to `/out`. */
  runs?: readonly (readonly string[])[];
  /** A plan whose first chunk is encoded instead. */
  plan?: { plan: Plan; source: Source };
  /** Bytes; default 512 MiB. */
  memory?: number;
  /** Bytes of the input that are loaded; all of them when absent. */
  loaded?: number;
}

/** The outcome of one run. */
export interface FastResult {
  code?: number;
  error?: { name: string; kind?: string; message: string };
  log: readonly string[];
  /** What the core printed while it ran. */
  lines: number;
  heap: number;
  /** Bytes of the whole process in memory after it. */
  resident: number;
  files: { name: string; bytes: Uint8Array; sha256: string }[];
  chunk?: EncodedChunk;
}

const task = workerData as FastTask;
const module = new WebAssembly.Module(readFileSync(task.core));
const bytes = damage(readFileSync(task.input), task.damage ?? 0);
const file = createPagedFile(bytes.length, [{ start: 0, bytes: bytes.subarray(0, task.loaded) }]);
let lines = 0;
const core = createFastCore({ module, memory: task.memory ?? 512 * 2 ** 20, onLine: () => lines++ });
core.mount("/in/input", file);

function hashed({ name, bytes }: WrittenFile): FastResult["files"][number] {
  return { name, bytes: bytes.slice(), sha256: createHash("sha256").update(bytes).digest("hex") };
}

const held = () => ({ heap: core.heap, resident: process.memoryUsage.rss() });

function attempt(run: () => Partial<FastResult>): FastResult {
  lines = 0;
  const none = { log: [], files: [] };
  try {
    const done = run();
    return { ...none, ...done, lines, ...held() };
  } catch (thrown) {
    if (!(thrown instanceof MediaError || thrown instanceof PageMiss)) throw thrown;
    const kind = thrown instanceof MediaError ? { kind: thrown.kind } : {};
    const error = { name: thrown.name, message: thrown.message, ...kind };
    return { ...none, error, lines, ...held() };
  }
}

core.makeFolder("/out");
const { plan, runs = [] } = task;
const results = plan
  ? [
      attempt(() => {
        const [chunk] = plan.plan.chunks;
        if (!chunk) throw new Error("The plan has no chunk.");
        const { video } = plan.plan;
        const tools = video?.mode === "encode" && video.codec === "vp9" ? VP9_TOOLS : FAST_TOOLS;
        const encoded = runChunk(core, { ...plan, chunk, tools, status_seconds: 0.1 });
        return { chunk: encoded, files: encoded.files.map(hashed) };
      }),
    ]
  : runs.map((args) => attempt(() => ({ ...core.exec(args), files: core.take("/out").map(hashed) })));
parentPort?.postMessage(results);
