import { type CreateCore, clearMemory, type Instantiate, reuseInstance } from "../wasm/core-module.ts";
import { createFastCore, createFastMemory } from "../wasm/fast-core.ts";
import { createWasmCore } from "../wasm/stock-core.ts";
import type { LightCore } from "./light-job.ts";

/** Creates a host's stock core from its glue and a function that instantiates its wasm. */
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

/** Creates a host's fast core, which gives each job up to `limit` bytes; null for the empty module of a build without that core. */
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

/** Lends one memory to job after job, cleared in between. */
export interface MemoryKeeper {
  take(): WebAssembly.Memory;
  /** Bytes of the memory; 0 when there is none. */
  readonly heap: number;
  /** Discards the memory, which never shrinks; the next one starts small. */
  drop(): void;
}

/**
 * Keeps one memory for all runs of the fast core, one at a time, as `reuseInstance` does for the stock core: new ones would pile up
 * until the garbage collector runs.
 */
function keepMemory(limit: number): MemoryKeeper {
  let memory: WebAssembly.Memory | null = null;
  return {
    get heap() {
      return memory?.buffer.byteLength ?? 0;
    },
    take() {
      if (memory) clearMemory(memory, 0);
      memory ??= createFastMemory(limit);
      return memory;
    },
    drop() {
      memory = null;
    },
  };
}
