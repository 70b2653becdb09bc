import { CORE_NAMES, type CoreImports, type Instantiate } from "./core-module.ts";

/** Hands out one wasm instance again and again, wiped in between. */
export interface InstanceKeeper {
  instantiate: Instantiate;
  /** Bytes of the kept instance's heap; 0 when none is kept. */
  readonly heap: number;
  /** Discards the instance, whose heap never shrinks; the next one starts small. */
  drop(): void;
}

interface Kept {
  exports: Record<string, unknown>;
  memory: WebAssembly.Memory;
  /** The initial memory up to its last non-zero byte. */
  image: Uint8Array;
  stack: number;
}

// The smallest unit in which an operating system allocates; wasm memory is a multiple of it.
const PAGE = 4096;

/**
 * Reuses one instance of the core for all jobs, one at a time. New instances would leave the last two or three heaps to the
 * garbage collector (measured in workerd: 150 MB), which an isolate of 128 MB cannot afford. Wiping restores the memory byte
 * for byte and the stack pointer; the wasm's only other mutable global holds the upper half of a 64-bit result during a
 * call. So one job leaves nothing behind for the next.
 */
export function reuseInstance(instantiate: Instantiate): InstanceKeeper {
  let kept: Kept | null = null;
  let current: CoreImports = {};

  // The instance keeps its imports for good, but every job brings new ones.
  function forward(imports: CoreImports): CoreImports {
    const groups = Object.entries(imports).map(([group, functions]) => {
      const forwarded = Object.keys(functions).map((name) => {
        return [name, (...args: number[]) => current[group]?.[name]?.(...args)] as const;
      });
      return [group, Object.fromEntries(forwarded)] as const;
    });
    return Object.fromEntries(groups);
  }

  return {
    get heap() {
      return kept?.memory.buffer.byteLength ?? 0;
    },
    drop() {
      kept = null;
    },
    async instantiate(imports) {
      if (kept) {
        current = imports;
        wipe(kept);
        return kept;
      }
      const { exports } = await instantiate(forward(imports));
      current = imports;
      const memory = exports[CORE_NAMES.exports.memory] as WebAssembly.Memory;
      const stackSave = exports[CORE_NAMES.exports.stackSave] as () => number;
      kept = { exports, memory, image: imageOf(memory), stack: stackSave() };
      return kept;
    },
  };
}

/** Fills a memory with zeros from an offset to its end. */
export function clearMemory(memory: WebAssembly.Memory, from: number): void {
  const words = new Int32Array(memory.buffer);
  const wide = PAGE / words.BYTES_PER_ELEMENT;
  const first = Math.ceil(from / PAGE);
  new Uint8Array(memory.buffer).fill(0, from, first * PAGE);
  for (let page = first * wide; page < words.length; page += wide) {
    // Pages that no job has touched occupy no memory; writing to them would, even zeros.
    if (!isZero(words, page, page + wide)) words.fill(0, page, page + wide);
  }
}

function isZero(words: Int32Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (words[at] !== 0) return false;
  }
  return true;
}

function imageOf(memory: WebAssembly.Memory): Uint8Array {
  const bytes = new Uint8Array(memory.buffer);
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.slice(0, end);
}

function wipe({ exports, memory, image, stack }: Kept): void {
  new Uint8Array(memory.buffer).set(image);
  clearMemory(memory, image.length);
  const stackRestore = exports[CORE_NAMES.exports.stackRestore] as (pointer: number) => void;
  stackRestore(stack);
}
