/** Where the lab serves the core. */
export const CORE = {
  wasm: "/files/core/ffmpeg-core.wasm.gz",
  glue: "/files/core/ffmpeg-core.js",
  fast: "/files/core/framewright-core.wasm.gz",
  vp9: "/files/core/framewright-core-vp9.wasm.gz",
  font: "/files/core/dejavu-sans.bin",
  fonts: "/files/fonts/",
} as const;
