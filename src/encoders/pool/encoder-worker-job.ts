import { MediaError } from "../../core/errors.ts";
import { parseProgress } from "../../ffmpeg/progress.ts";
import type { SyncFile } from "../core/paged-file.ts";
import type { WasmCore } from "../core/wasm-core.ts";
import { readHeaderFacts } from "../light/header-facts.ts";
import { runChunk } from "../light/light-chunk.ts";
import { reportOf, runProbe } from "../light/light-probe.ts";
import type { EncoderWork, FromEncoderWorker, WorkDone } from "./encoder-worker-wire.ts";

/** What runs the work of an encoder worker, one piece at a time. */
export interface WorkHost {
  /** Makes a core with so many bytes of memory for one piece of work. */
  createCore(memory: number, onLine: (line: string) => void): Promise<WasmCore>;
  /** Lets go of memory that earlier work left behind. */
  tidy(): void;
  /** Is called with the time of output in seconds now and then; it gets through while the core runs. */
  alive(seconds: number | null): void;
}

/** Seconds between two lines in which ffmpeg tells how far it is. */
const STATUS_SECONDS = 0.1;
const HEADER = 131_072;

/** Does a piece of work on a file, on a core of its own; rejects with a MediaError, after which the worker has served its time. */
export async function runWork(work: EncoderWork, file: SyncFile, host: WorkHost): Promise<WorkDone> {
  if (work.kind === "encode") {
    const core = await start(work, file, host);
    const encoded = runChunk(core, { ...work, status_seconds: STATUS_SECONDS });
    return { report: null, ...encoded, heap: core.heap };
  }
  const facts = readHeaderFacts(file.read(0, Math.min(file.size, HEADER)));
  try {
    return await probe("frame");
  } catch (thrown) {
    if (!(thrown instanceof MediaError && thrown.kind === "out_of_memory")) throw thrown;
    host.tidy();
  }
  // A picture that is too large to be decoded still has a header.
  return facts ? { report: reportOf(facts, file.size), files: [], tally: {}, heap: 0 } : probe("header");

  async function probe(depth: "frame" | "header"): Promise<WorkDone> {
    const core = await start(work, null, host);
    return { report: runProbe(core, file, facts, depth), files: [], tally: {}, heap: core.heap };
  }
}

/** Gives the message that tells how a piece of work failed. */
export function failure(thrown: unknown): Extract<FromEncoderWorker, { state: "error" }> {
  if (!(thrown instanceof MediaError)) {
    const message = "The encoder worker broke down.";
    return { state: "error", kind: "worker_lost", message, retryable: true, broken: true };
  }
  const { kind, message, retryable, cause } = thrown;
  if (cause instanceof RangeError && kind === "worker_lost") {
    return failure(new MediaError("out_of_memory", "The browser has no memory left for the encoder."));
  }
  // What ffmpeg says of a file stays so on any core; a breakdown has another cause than its words.
  const broken = kind === "worker_lost" || (kind === "encode_failed" && isBreakdown(cause));
  return { state: "error", kind, message, retryable, broken };
}

function isBreakdown(cause: unknown): boolean {
  return cause instanceof Error || cause === "stack" || cause === "no exit code";
}

async function start(work: EncoderWork, file: SyncFile | null, host: WorkHost): Promise<WasmCore> {
  const onLine = (line: string) => host.alive(parseProgress(line));
  const core = await host.createCore(work.memory, onLine);
  if (file) core.mount("/in/input", file);
  return core;
}
