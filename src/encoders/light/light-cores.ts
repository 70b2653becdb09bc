import { type CreateCore, clearMemory, type Instantiate, reuseInstance } from "../wasm/core-module.ts";
import { createFastCore, createFastMemory } from "../wasm/fast-core.ts";
import { createWasmCore } from "../wasm/stock-core.ts";
import type { LightCore } from "./light-job.ts";

/** Creates the stock core of a host from its glue and a function that instantiates its wasm. */
export function stockLightCore(createCore: CreateCore, instantiateWasm: Instantiate): LightCore {
  const keeper = reuseInstance(instantiateWasm);
  const { instantiate, drop } = keeper;
  return {
    create: (memory) => createWasmCore({ createCore, instantiate, memory }),
    get heap() {
      return keeper.heap;
    },
    drop,
  };
}

/** Creates the fast core of a host that gives each job up to `limit` bytes; null for the empty module that stands in where it has not been built. */
export function fastLightCore(module: WebAssembly.Module, limit: number): LightCore | null {
  if (WebAssembly.Module.exports(module).length === 0) return null;
  const keeper = keepMemory(limit);
  return {
    create: (memory) => createFastCore({ module, memory, takeMemory: keeper.take }),
    get heap() {
      return keeper.heap;
    },
    drop: keeper.drop,
  };
}

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
function keepMemory(limit: number): MemoryKeeper {
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
