import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { type EncodedChunk, runChunk } from "../../../src/encoders/light/light-job.ts";
import { createPagedFile, PageMiss, type Spill } from "../../../src/encoders/wasm/core-files.ts";
import { createFastCore } from "../../../src/encoders/wasm/fast-core.ts";
import type { WrittenFile } from "../../../src/encoders/wasm/stock-core.ts";
import { MediaError } from "../../../src/media/errors.ts";
import { FAST_TOOLS, VP9_TOOLS } from "../../../src/media/ffmpeg/toolset.ts";
import type { Plan } from "../../../src/media/plan.ts";
import type { Source } from "../../../src/media/source.ts";

/** Work for the fast core, over one input at `/in/input`. */
export interface FastTask {
  /** The compiled core. */
  module: WebAssembly.Module;
  /** Path of the input. */
  input: string;
  /** Arguments of each run; they write to `/out`. */
  runs?: readonly (readonly string[])[];
  /** A plan whose first chunk is encoded instead. */
  plan?: { plan: Plan; source: Source };
  /** Bytes; default 512 MiB. */
  memory?: number;
  /** Bytes of the input that are loaded; all of them when absent. */
  loaded?: number;
  /** Bytes of the blocks that outputs move out of memory; none when absent. */
  spill?: number;
}

/** The outcome of one run. */
export interface FastResult {
  code?: number;
  error?: { name: string; kind?: string; message: string };
  log: readonly string[];
  /** Number of lines that the core printed while it ran. */
  lines: number;
  /** Blocks of outputs that it moved out of memory. */
  moved: number;
  heap: number;
  /** Bytes of the whole process in memory after it. */
  resident: number;
  files: { name: string; bytes: Uint8Array; sha256: string }[];
  chunk?: EncodedChunk;
}

const task = workerData as FastTask;
const bytes = readFileSync(task.input);
const file = createPagedFile(bytes.length, [{ start: 0, bytes: bytes.subarray(0, task.loaded) }]);
let lines = 0;
let moved = 0;
const spill: Spill | undefined = task.spill
  ? {
      block: task.spill,
      move(block) {
        moved++;
        const copy = block.slice();
        return { blob: new Blob([copy]), read: () => copy.slice() };
      },
    }
  : undefined;
const memory = task.memory ?? 512 * 2 ** 20;
const core = createFastCore({ module: task.module, memory, onLine: () => lines++, ...(spill && { spill }) });
core.mount("/in/input", file);

async function hashed({ name, bytes, front }: WrittenFile): Promise<FastResult["files"][number]> {
  const whole = Buffer.concat([front ? await front.bytes() : Buffer.of(), bytes]);
  return { name, bytes: whole, sha256: createHash("sha256").update(whole).digest("hex") };
}

const usage = () => ({ heap: core.heap, resident: process.memoryUsage.rss() });

async function attempt(
  run: () => { files: WrittenFile[] } & Partial<Omit<FastResult, "files">>,
): Promise<FastResult> {
  lines = 0;
  moved = 0;
  const none = { log: [], files: [] };
  try {
    const { files, ...done } = run();
    return { ...none, ...done, files: await Promise.all(files.map(hashed)), lines, moved, ...usage() };
  } catch (thrown) {
    if (!(thrown instanceof MediaError || thrown instanceof PageMiss)) throw thrown;
    const kind = thrown instanceof MediaError ? { kind: thrown.kind } : {};
    const error = { name: thrown.name, message: thrown.message, ...kind };
    return { ...none, error, lines, moved, ...usage() };
  }
}

core.makeFolder("/out");
const { plan, runs = [] } = task;
const results: FastResult[] = [];
if (plan) results.push(await attempt(() => encodeFirstChunk(plan)));
for (const args of runs) {
  results.push(await attempt(() => ({ ...core.exec(args), files: core.take("/out") })));
}
parentPort?.postMessage(results);

function encodeFirstChunk({ plan, source }: { plan: Plan; source: Source }) {
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("The plan has no chunk.");
  const tools = plan.video?.mode === "encode" && plan.video.codec === "vp9" ? VP9_TOOLS : FAST_TOOLS;
  const encoded = runChunk(core, { plan, source, chunk, tools, status_seconds: 0.1 });
  return { chunk: encoded, files: encoded.files };
}
