import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { createFastCore } from "../../../src/encoders/wasm/fast-core.ts";
import { MediaError } from "../../../src/media/errors.ts";
import { damage } from "./damage.ts";

/** Runs of the fast core on damaged copies of one input, one for each seed. */
export interface DamageTask {
  core: string;
  input: string;
  seeds: readonly number[];
  /** Limit in bytes. */
  memory: number;
}

/** The end of one run, posted as soon as it is there. */
export interface DamageEnd {
  seed: number;
  /** ffmpeg's exit code, or the kind of the error. */
  end: number | string;
  heap: number;
}

const ARGS =
  "-v quiet -i /in/input -map 0 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -vf scale=64:48 -c:a pcm_s16le /out/o.mkv";

const { core, input, seeds, memory } = workerData as DamageTask;
const module = new WebAssembly.Module(readFileSync(core));
const whole = readFileSync(input);

for (const seed of seeds) {
  const bytes = damage(whole, seed);
  const fast = createFastCore({ module, memory });
  fast.mount("/in/input", {
    ...{ size: bytes.length, held: 0 },
    read: (start, end) => bytes.subarray(start, end),
  });
  fast.makeFolder("/out");
  let end: DamageEnd["end"];
  try {
    end = fast.exec(ARGS.split(" ")).code;
  } catch (thrown) {
    if (!(thrown instanceof MediaError)) throw thrown;
    end = thrown.kind;
  }
  parentPort?.postMessage({ seed, end, heap: fast.heap } satisfies DamageEnd);
}
