import stockCore from "@ffmpeg/core";
import fast from "../../dist/core/framewright-core.wasm";
import wasm from "../../node_modules/@ffmpeg/core/dist/esm/ffmpeg-core.wasm";
import { LIGHT_MEMORY } from "../../src/encoders/light/light-estimate.ts";
import type { LightCore } from "../../src/encoders/light/light-job.ts";
import type { LightHealth } from "../../src/encoders/light/light-wire.ts";
import {
  type CreateCore,
  clearMemory,
  type Instantiate,
  reuseInstance,
} from "../../src/encoders/wasm/core-module.ts";
import { createFastCore, createFastMemory } from "../../src/encoders/wasm/fast-core.ts";
import { createWasmCore } from "../../src/encoders/wasm/stock-core.ts";
import { createJobQueue, serveJob } from "./job-server.ts";

/** Creates a host's stock core from its glue and a function that instantiates its wasm. */
function stockLightCore(createCore: CreateCore, instantiateWasm: Instantiate): LightCore {
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
function fastLightCore(module: WebAssembly.Module, limit: number): LightCore | null {
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

/** Lends one memory to successive jobs, cleared in between. */
interface MemoryKeeper {
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

const WAITING = 64;

// The core's glue code reads the page's address when it starts; a Worker has none.
const page = globalThis as { location?: unknown };
const createCore: CreateCore = (options) => {
  page.location ??= { href: "https://framewright.invalid/" };
  return stockCore(options);
};

const queue = createJobQueue(WAITING);
const host = {
  stock: stockLightCore(
    createCore,
    (imports) => new WebAssembly.Instance(wasm, imports as WebAssembly.Imports),
  ),
  fast: fastLightCore(fast, LIGHT_MEMORY),
  memory: LIGHT_MEMORY,
  now: () => performance.now(),
};

/** The encoder Worker, which runs one job at a time and is reached only through its service binding. */
export default {
  fetch(request: Request): Response | Promise<Response> {
    // On a developer's machine it also listens on a port, which pages in the browser can reach.
    if (request.headers.has("Origin")) return new Response("Forbidden", { status: 403 });
    const { pathname } = new URL(request.url);
    if (request.method === "GET" && pathname === "/health") {
      return Response.json({ status: "ok", fast: host.fast !== null } satisfies LightHealth);
    }
    if (request.method === "POST" && pathname === "/") return serveJob(request, queue, host);
    return new Response("Not found", { status: 404 });
  },
};
