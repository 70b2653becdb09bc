import type { LocalClientOptions } from "../src/browser/index.ts";

/** The core with threads, which the page brings along: by it H.265 is encoded on the visitor's machine. It is loaded when it is first needed. */
export const THREADED_CORE = {
  wasm: new URL("../dist/core-mt/ffmpeg-core-mt.wasm.gz", import.meta.url).href,
  glue: new URL("../dist/core-mt/ffmpeg-core-mt.js.gz", import.meta.url).href,
  threads: new URL("../dist/core-mt/ffmpeg-core-mt.worker.js.gz", import.meta.url).href,
} as const satisfies LocalClientOptions["threadedCore"];
