import stockCore from "@ffmpeg/core";
import fast from "../../dist/core/framewright-core.wasm";
import wasm from "../../node_modules/@ffmpeg/core/dist/esm/ffmpeg-core.wasm";
import { fastLightCore, stockLightCore } from "../../src/encoders/light/light-cores.ts";
import { LIGHT_MEMORY } from "../../src/encoders/light/light-estimate.ts";
import type { LightHealth } from "../../src/encoders/light/light-wire.ts";
import type { CreateCore } from "../../src/encoders/wasm/core-module.ts";
import { createTurns, serveJob } from "./job-server.ts";

const WAITING = 64;

// The glue of the core reads the address of its page when it starts; a Worker has none.
const page = globalThis as { location?: unknown };
const createCore: CreateCore = (options) => {
  page.location ??= { href: "https://framewright.invalid/" };
  return stockCore(options);
};

const turns = createTurns(WAITING);
const host = {
  stock: stockLightCore(
    createCore,
    (imports) => new WebAssembly.Instance(wasm, imports as WebAssembly.Imports),
  ),
  fast: fastLightCore(fast, LIGHT_MEMORY),
  memory: LIGHT_MEMORY,
  now: () => performance.now(),
};

/** The encoder Worker: one job at a time, reached through the service binding alone. */
export default {
  fetch(request: Request): Response | Promise<Response> {
    // On a developer's machine it listens on a port too, which pages in the browser reach.
    if (request.headers.has("Origin")) return new Response("Forbidden", { status: 403 });
    const { pathname } = new URL(request.url);
    if (request.method === "GET" && pathname === "/health") {
      return Response.json({ status: "ok", fast: host.fast !== null } satisfies LightHealth);
    }
    if (request.method === "POST" && pathname === "/") return serveJob(request, turns, host);
    return new Response("Not found", { status: 404 });
  },
};
