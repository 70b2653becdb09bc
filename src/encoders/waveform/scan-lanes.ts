/** The extremes of samples, eight at a time. */
export interface Lanes {
  /** Takes the samples that the next scans are of. */
  load(samples: Int16Array): void;
  /**
   * Widens the extremes at a place in `values`, a minimum and a maximum for each channel, to those of a stretch of the samples. Returns where
   * it stopped: up to seven are left.
   */
  scan(from: number, to: number, values: Int16Array, at: number): number;
}

// https://webassembly.github.io/spec/core/binary/instructions.html
const I32 = 0x7f;
const V128 = 0x7b;
const NONE = 0x40;
const OP = {
  ...{ loop: 0x03, if: 0x04, end: 0x0b, branch: 0x0c },
  ...{ get: 0x20, set: 0x21, tee: 0x22, constant: 0x41, less: 0x48, add: 0x6a },
} as const;
// Aligned to two bytes.
const LOAD = [0xfd, 0x00, 1, 0];
const storeAt = (offset: number) => [0xfd, 0x0b, 1, offset];
const LEAST = [0xfd, 0x96, 0x01];
const MOST = [0xfd, 0x98, 0x01];
const [AT, END, LOW, HIGH] = [0, 1, 2, 3] as const;

const LANES = 8;
const BLOCK = 2 * LANES;
const PAGE = 65_536;
// The minima of the lanes, then their maxima; the samples come after them.
const BASE = 2 * BLOCK;

const widen = (into: number, by: readonly number[]) => [
  ...[OP.get, into, OP.get, AT, ...LOAD, ...by, OP.set, into],
];
// do { low = min(low, *at); high = max(high, *at); } while ((at += 16) < end)
const BODY = [
  ...[OP.get, AT, ...LOAD, OP.tee, LOW, OP.set, HIGH],
  ...[OP.loop, NONE, ...widen(LOW, LEAST), ...widen(HIGH, MOST)],
  ...[OP.get, AT, OP.constant, BLOCK, OP.add, OP.tee, AT, OP.get, END, OP.less],
  ...[OP.if, NONE, OP.branch, 1, OP.end, OP.end],
  ...[OP.constant, 0, OP.get, LOW, ...storeAt(0), OP.constant, 0, OP.get, HIGH, ...storeAt(BLOCK), OP.end],
];
const CODE = [1, 2, V128, ...BODY];
const section = (id: number, ...bytes: number[]) => [id, bytes.length, ...bytes];
const nameOf = (letter: string) => [1, letter.charCodeAt(0)];
const MODULE = Uint8Array.of(
  ...[0, ...[..."asm"].map((letter) => letter.charCodeAt(0)), 1, 0, 0, 0],
  ...section(1, 1, 0x60, 2, I32, I32, 0),
  ...section(3, 1, 0),
  ...section(5, 1, 0, 2),
  ...section(7, 2, ...nameOf("m"), 2, 0, ...nameOf("s"), 0, 0),
  ...section(10, 1, CODE.length, ...CODE),
);

interface Exports {
  m: WebAssembly.Memory;
  /** Scans the bytes from `from` to `to`, at least a block. */
  s(from: number, to: number): void;
}

function compile(): Exports | null {
  // In the types of Workers it is abstract, because it throws there.
  const Module = WebAssembly.Module as unknown as new (bytes: Uint8Array) => WebAssembly.Module;
  try {
    return new WebAssembly.Instance(new Module(MODULE)).exports as unknown as Exports;
  } catch {
    return null;
  }
}

/** Creates the lanes for so many channels; null where they do not divide among them, or where nothing can be compiled, as in a Worker. */
export function createLanes(channels: number): Lanes | null {
  if (LANES % channels !== 0) return null;
  const exports = compile();
  if (!exports) return null;
  const { m: memory, s: scan } = exports;
  let lanes = new Int16Array(memory.buffer);
  return {
    load(samples) {
      const missing = BASE + samples.byteLength - memory.buffer.byteLength;
      if (missing > 0) {
        memory.grow(Math.ceil(missing / PAGE));
        lanes = new Int16Array(memory.buffer);
      }
      lanes.set(samples, BASE / 2);
    },
    scan(from, to, values, at) {
      const end = to - ((to - from) % LANES);
      if (end <= from) return from;
      scan(BASE + 2 * from, BASE + 2 * end);
      for (let lane = 0; lane < LANES; lane++) {
        const row = at + 2 * (lane % channels);
        const [least, most] = [lanes[lane] as number, lanes[LANES + lane] as number];
        if (least < (values[row] as number)) values[row] = least;
        if (most > (values[row + 1] as number)) values[row + 1] = most;
      }
      return end;
    },
  };
}
