import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { createFastCore } from "../../../src/encoders/wasm/fast-core.ts";
import { MediaError } from "../../../src/media/errors.ts";
import { damage } from "./damage.ts";

/** Runs of the fast core on damaged copies of one input, one for each seed. */
export interface DamageTask {
  /** The compiled core. */
  module: WebAssembly.Module;
  /** Path of the input, which the core finds at `/in/input`. */
  input: string;
  seeds: readonly number[];
  /** Arguments, which write one file to `/out`. */
  args: readonly string[];
  /** Limit in bytes. */
  memory: number;
}

/** The end of one run, posted at once. */
export interface DamageEnd {
  seed: number;
  /** ffmpeg's exit code, or the kind of the error. */
  end: number | string;
  heap: number;
  /** The hash of the output; null if there is none. */
  sha256: string | null;
}

const { module, input, seeds, args, memory } = workerData as DamageTask;
const whole = readFileSync(input);

for (const seed of seeds) {
  const bytes = damage(whole, seed);
  const fast = createFastCore({ module, memory });
  fast.mount("/in/input", {
    ...{ size: bytes.length, loadedBytes: 0 },
    read: (start, end) => bytes.subarray(start, end),
  });
  fast.makeFolder("/out");
  let end: DamageEnd["end"];
  let sha256: string | null = null;
  try {
    end = fast.exec(args).code;
    const [file] = fast.take("/out");
    if (file) sha256 = createHash("sha256").update(file.bytes).digest("hex");
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    end = thrown.kind;
  }
  parentPort?.postMessage({ seed, end, heap: fast.heap, sha256 } satisfies DamageEnd);
}
