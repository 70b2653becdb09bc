import { KIB } from "../../util/bytes.ts";

const BLOCK = 64 * KIB;

/** A growing table of big-endian 32-bit numbers, as stored in an MP4's index. */
export interface Table {
  readonly length: number;
  push(value: number): void;
  /** Its bytes in pieces, not copied. */
  bytes(): Uint8Array[];
}

/** Creates a {@link Table}; negative numbers become two's complement. */
export function createTable(): Table {
  const blocks: DataView<ArrayBuffer>[] = [];
  let last = new DataView(new ArrayBuffer(0));
  let [used, length] = [0, 0];
  return {
    get length() {
      return length;
    },
    push(value) {
      if (used === last.byteLength) {
        // Most tables are short, so the first block is small.
        last = new DataView(new ArrayBuffer(blocks.length === 0 ? BLOCK / 16 : BLOCK));
        blocks.push(last);
        used = 0;
      }
      last.setUint32(used, value);
      used += 4;
      length++;
    },
    bytes: () =>
      blocks.map((block) => new Uint8Array(block.buffer, 0, block === last ? used : block.byteLength)),
  };
}

/** A run-length table such as stts and ctts. */
export interface Runs {
  push(value: number): void;
  /** Whether any value was not 0. */
  readonly used: boolean;
  /** Whether any value was below 0. */
  readonly negative: boolean;
  /** Returns the number of entries, and their bytes in pieces. */
  finish(): { length: number; bytes: Uint8Array[] };
}

export function createRuns(): Runs {
  const table = createTable();
  let [count, value] = [0, 0];
  let [used, negative] = [false, false];
  const close = () => {
    if (count === 0) return;
    table.push(count);
    table.push(value);
    count = 0;
  };
  return {
    get used() {
      return used;
    },
    get negative() {
      return negative;
    },
    push(next) {
      if (next !== value) close();
      value = next;
      count++;
      used ||= next !== 0;
      negative ||= next < 0;
    },
    finish() {
      close();
      return { length: table.length / 2, bytes: table.bytes() };
    },
  };
}
