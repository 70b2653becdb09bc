import type { LocalClientOptions } from "../src/browser/index.ts";

/** The threaded core, which the page ships to encode H.265 on the visitor's machine; loaded on first use. */
export const THREADED_CORE = {
  wasm: new URL("../dist/core-mt/ffmpeg-core-mt.wasm.gz", import.meta.url).href,
  glue: new URL("../dist/core-mt/ffmpeg-core-mt.js.gz", import.meta.url).href,
  threads: new URL("../dist/core-mt/ffmpeg-core-mt.worker.js.gz", import.meta.url).href,
} as const satisfies LocalClientOptions["threadedCore"];
