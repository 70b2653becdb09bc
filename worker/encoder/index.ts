import stockCore from "@ffmpeg/core";
import fast from "../../dist/core/framewright-core.wasm";
import wasm from "../../node_modules/@ffmpeg/core/dist/esm/ffmpeg-core.wasm";
import { fastLightCore, stockLightCore } from "../../src/encoders/light/light-cores.ts";
import { LIGHT_MEMORY } from "../../src/encoders/light/light-estimate.ts";
import type { LightHealth } from "../../src/encoders/light/light-wire.ts";
import type { CreateCore } from "../../src/encoders/wasm/core-module.ts";
import { createJobQueue, serveJob } from "./job-server.ts";

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
