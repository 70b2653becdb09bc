import { clearMemory } from "../core/reuse-instance.ts";
import { createFastMemory } from "./fast-core.ts";

/** Hands out one memory again and again, cleared in between. */
export interface MemoryKeeper {
  take(): WebAssembly.Memory;
  /** Bytes of the kept memory; 0 when none is kept. */
  readonly heap: number;
  /** Discards the memory, which never shrinks; the next one starts small. */
  drop(): void;
}

/**
 * Keeps one memory for all runs of the fast core, one at a time, as `reuseInstance` does for the stock core: several would
 * wait for the garbage collector together.
 */
export function keepMemory(limit: number): MemoryKeeper {
  let kept: WebAssembly.Memory | null = null;
  return {
    get heap() {
      return kept?.buffer.byteLength ?? 0;
    },
    take() {
      if (kept) clearMemory(kept, 0);
      kept ??= createFastMemory(limit);
      return kept;
    },
    drop() {
      kept = null;
    },
  };
}
