/** Where the lab serves the core. */
export const CORE = { wasm: "/files/core/ffmpeg-core.wasm.gz", glue: "/files/core/ffmpeg-core.js" } as const;
