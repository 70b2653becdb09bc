import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { createPagedFile } from "../../src/encoders/wasm/core-files.ts";
import { reuseInstance } from "../../src/encoders/wasm/core-module.ts";
import { createWasmCore, type WasmCore } from "../../src/encoders/wasm/stock-core.ts";
import { MediaError } from "../../src/media/errors.ts";
import { stockCore } from "./stock-core.ts";

/** Runs of ffmpeg, or with `probe` ffprobe, on one input at `/in/input` that write to `/out`. */
export interface CoreTask {
  input: string;
  /** Arguments of each run. */
  runs: readonly (readonly string[])[];
  probe?: boolean;
  /** A fresh core per run, a core per run in one reused instance, or one core for all runs. */
  cores: "fresh" | "kept" | "one";
  /** Bytes; default 256 MiB. */
  memory?: number;
  /** Detaches unused memory at once. */
  frees_unused?: boolean;
}

export interface CoreResult {
  code?: number;
  error?: { kind: string; message: string };
  report?: Record<string, unknown> | null;
  log: readonly string[];
  heap: number;
  /** Bytes of each buffer that was freed so far. */
  freed: number[];
  files: { name: string; bytes: Uint8Array; sha256: string }[];
}

const MIB = 1_048_576;
const task = workerData as CoreTask;
const bytes = readFileSync(task.input);
const file = createPagedFile(bytes.length, [{ start: 0, bytes }]);
const keeper = reuseInstance(stockCore.instantiate);
const instantiate = task.cores === "kept" ? keeper.instantiate : stockCore.instantiate;

const freed: number[] = [];

function freeBuffer({ buffer }: Uint8Array<ArrayBuffer>): void {
  freed.push(buffer.byteLength);
  structuredClone(buffer, { transfer: [buffer] });
}

async function start(): Promise<WasmCore> {
  const memory = task.memory ?? 256 * MIB;
  const { createCore } = stockCore;
  const core = await createWasmCore({
    ...{ createCore, instantiate, memory },
    ...(task.frees_unused && { freeBuffer }),
  });
  core.mount("/in/input", file);
  core.makeFolder("/out");
  return core;
}

function run(core: WasmCore, args: readonly string[]): CoreResult {
  try {
    const done = task.probe ? core.ffprobe(args) : core.exec(["-loglevel", "error", ...args]);
    const files = core.take("/out").map((each) => {
      const sha256 = createHash("sha256").update(each.bytes).digest("hex");
      return { name: each.name, bytes: each.bytes.slice(), sha256 };
    });
    return { ...done, heap: core.heap, freed: [...freed], files };
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    const { kind, message } = thrown;
    return { error: { kind, message }, log: [], heap: core.heap, freed: [...freed], files: [] };
  }
}

const results: CoreResult[] = [];
let core: WasmCore | undefined;
for (const args of task.runs) {
  core = task.cores === "one" && core ? core : await start();
  results.push(run(core, args));
}
parentPort?.postMessage(results);
