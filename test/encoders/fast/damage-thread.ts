import { readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { MediaError } from "../../../src/core/errors.ts";
import { createFastCore } from "../../../src/encoders/fast/fast-core.ts";

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

// Every way in turn, at places and of lengths that follow from the seed; 0 leaves the file whole.
function damage(original: Uint8Array, seed: number): Uint8Array {
  if (seed === 0) return original;
  const next = randomOf(seed);
  const bytes = original.slice();
  const place = () => next(bytes.length);
  const length = () => 1 + next(Math.max(1, bytes.length >> 3));
  switch (seed % 5) {
    case 0:
      for (let count = 1 + next(64); count > 0; count--) bytes[place()] = next(256);
      return bytes;
    case 1:
      for (let count = 1 + next(8); count > 0; count--) bytes[place()] = 255;
      return bytes.subarray(0, 1 + place());
    case 2:
      return fill(bytes, place(), length(), () => 0);
    case 3:
      return fill(bytes, place(), length(), () => next(256));
    default:
      bytes.copyWithin(place(), place(), place() + length());
      return bytes;
  }
}

function fill(bytes: Uint8Array, start: number, length: number, value: () => number): Uint8Array {
  const end = Math.min(bytes.length, start + length);
  for (let at = start; at < end; at++) bytes[at] = value();
  return bytes;
}

// Marsaglia's xorshift: the same numbers in every run.
function randomOf(seed: number): (below: number) => number {
  let state = (seed + 1) * 2_654_435_761;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
