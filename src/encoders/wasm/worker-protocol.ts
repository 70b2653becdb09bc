import type { ErrorKind } from "../../media/errors.ts";
import type { PacketCounts } from "../../media/ffmpeg/packet-count.ts";
import type { Toolset } from "../../media/ffmpeg/toolset.ts";
import type { Chunk, Plan } from "../../media/plan.ts";
import type { Source } from "../../media/source.ts";
import type { EncodedFile } from "../encoder.ts";
import * as errors from "../errors.ts";
import type { FfprobeReport } from "../light/light-probe.ts";
import type { LoadedCore } from "./load-core.ts";

/** A job for an encoder worker. */
export type EncoderWork =
  | {
      kind: "encode";
      plan: Plan;
      chunk: Chunk;
      source: Source;
      tools: Toolset;
      /** Limit in bytes on heap and output together. */
      memory: number;
    }
  | { kind: "probe"; memory: number };

/**
 * Messages to an encoder worker: first the core, then jobs, one at a time. `lease` is a URL that the owner
 * revokes to stop a running core, which blocks messages. `end` terminates the core's threads, then the worker.
 */
export type ToEncoderWorker =
  | { core: LoadedCore; lease: string }
  | { work: EncoderWork; files: readonly [Blob, ...Blob[]] }
  | { end: true };

/** A file that a core wrote; `front` precedes its bytes if it was too large to stay in memory. */
export type PoolFile = EncodedFile & { front?: Blob };

export interface WorkDone {
  report: FfprobeReport | null;
  files: PoolFile[];
  tally: PacketCounts;
  /** Bytes of the core's heap, which never shrinks. */
  heap: number;
}

/**
 * Messages from an encoder worker: signs of life, with the output time in seconds if ffmpeg reported one, and finally the result.
 */
export type FromEncoderWorker =
  | { state: "alive"; seconds: number | null }
  | ({ state: "done" } & WorkDone)
  | {
      state: "error";
      kind: ErrorKind;
      message: string;
      retryable: boolean;
      /** Whether the core itself crashed, so that a fresh one may succeed. */
      broken: boolean;
    };

/** Functions that a wasm imports from its glue, grouped by module. */
type Imports = Record<string, Record<string, unknown>>;

// A request takes one or two milliseconds, and reading the clock as long as many imports.
const EVERY_MS = 200;
const EVERY_CALLS = 8;

/** A worker whose running wasm ends with it; after terminate() alone, Chromium lets the wasm run for 2 more seconds. */
export interface LeasedWorker {
  worker: Worker;
  /** Ends the wasm at once, and the worker after `graceMs` milliseconds. Default 0. */
  end(graceMs?: number): void;
}

/** Starts a worker and passes it a URL for {@link watchLease}; ending the worker revokes the URL. */
export function startLeased(start: (lease: string) => Worker): LeasedWorker {
  const lease = URL.createObjectURL(new Blob(["leased"]));
  const worker = start(lease);
  return {
    worker,
    end(graceMs = 0) {
      URL.revokeObjectURL(lease);
      if (graceMs > 0) setTimeout(() => worker.terminate(), graceMs);
      else worker.terminate();
    },
  };
}

/** Lets wasm in a worker stop soon after the worker is abandoned. */
export interface WorkerLease {
  /**
   * Wraps the imports so that they throw once the worker is abandoned, except while the wasm starts; a busy worker receives no
   * messages.
   */
  guard(imports: Imports, isRunning?: () => boolean): void;
}

/** Polls a lease, which resolves until the worker is abandoned. Call before the first await. */
export function watchLease(url: string): WorkerLease {
  // A content security policy may forbid these requests.
  const own = URL.createObjectURL(new Blob(["allowed"]));
  const allowed = resolves(own);
  URL.revokeObjectURL(own);
  let last = Number.NEGATIVE_INFINITY;
  let calls = 0;
  let isLeased = true;

  function check(): void {
    if (calls++ % EVERY_CALLS !== 0) return;
    const now = performance.now();
    if (now - last < EVERY_MS) return;
    last = now;
    isLeased &&= resolves(url);
    if (!isLeased) throw errors.workerAbandoned();
  }

  return {
    guard(imports, isRunning = () => true) {
      if (!allowed) return;
      for (const group of Object.values(imports)) {
        for (const [name, call] of Object.entries(group)) {
          if (typeof call !== "function") continue;
          group[name] = (...args: unknown[]) => {
            // Errors during wasm startup would go unhandled.
            if (isRunning()) check();
            return call(...args);
          };
        }
      }
    },
  };
}

function resolves(url: string): boolean {
  try {
    const request = new XMLHttpRequest();
    request.open("GET", url, false);
    request.send();
    return request.status === 200;
  } catch {
    return false;
  }
}
