import { MediaError } from "../../core/errors.ts";
import { parseProgress } from "../../ffmpeg/progress.ts";
import type { SyncFile } from "../core/paged-file.ts";
import type { WasmCore } from "../core/wasm-core.ts";
import { mountInputs, runChunk } from "../light/light-job.ts";
import { readHeaderFacts, reportOf, runProbe } from "../light/light-probe.ts";
import type { EncoderWork, FromEncoderWorker, WorkDone } from "./encoder-worker-wire.ts";

/** What an encoder worker's jobs need from their worker. */
export interface WorkHost {
  /** Creates a core with `memory` bytes for one job; calls `onThread` with each of its threads that has loaded. */
  createCore(memory: number, onLine: (line: string) => void, onThread: () => void): Promise<WasmCore>;
  /** Frees memory left by earlier jobs. */
  tidy(): void;
  /** Called from time to time with the output time in seconds; the message leaves the worker while the core runs. */
  alive(seconds: number | null): void;
}

/** Seconds between ffmpeg's progress lines. */
const STATUS_SECONDS = 0.1;
const HEADER = 131_072;

/** Runs a job on a file and its further files, on a core of its own. Rejects with a MediaError, after which the worker must not be used again. */
export async function runWork(
  work: EncoderWork,
  [file, ...further]: readonly [SyncFile, ...SyncFile[]],
  host: WorkHost,
): Promise<WorkDone> {
  if (work.kind === "encode") {
    const core = await startCore(work, host);
    mountInputs(core, file, further);
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
  // A picture too large to decode still has a header.
  return facts ? { report: reportOf(facts, file.size), files: [], tally: {}, heap: 0 } : probe("header");

  async function probe(depth: "frame" | "header"): Promise<WorkDone> {
    const core = await startCore(work, host);
    return { report: runProbe(core, file, facts, depth), files: [], tally: {}, heap: core.heap };
  }
}

export function failure(thrown: unknown): Extract<FromEncoderWorker, { state: "error" }> {
  if (!(thrown instanceof MediaError)) {
    const message = "The encoder worker broke down.";
    return { state: "error", kind: "worker_lost", message, retryable: true, broken: true };
  }
  const { kind, message, retryable, cause } = thrown;
  if (cause instanceof RangeError && kind === "worker_lost") {
    return failure(new MediaError("out_of_memory", "The browser has no memory left for the encoder."));
  }
  // What ffmpeg says about a file holds on any core; a crash may have another cause than its last words suggest.
  const broken = kind === "worker_lost" || (kind === "encode_failed" && isBreakdown(cause));
  return { state: "error", kind, message, retryable, broken };
}

function isBreakdown(cause: unknown): boolean {
  return cause instanceof Error || cause === "stack" || cause === "no exit code";
}

async function startCore(work: EncoderWork, host: WorkHost): Promise<WasmCore> {
  return host.createCore(
    work.memory,
    (line) => host.alive(parseProgress(line)),
    () => host.alive(null),
  );
}
