import type { CreateCore, Instantiate } from "../core/core-module.ts";
import { reuseInstance } from "../core/reuse-instance.ts";
import { createWasmCore } from "../core/wasm-core.ts";
import { createFastCore } from "../fast/fast-core.ts";
import { keepMemory } from "../fast/keep-memory.ts";
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
