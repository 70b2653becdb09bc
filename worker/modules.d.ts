declare module "@ffmpeg/core" {
  const createCore: import("../src/encoders/wasm/core-module.ts").CreateCore;
  // biome-ignore lint/style/noDefaultExport: it is what the package has
  export default createCore;
}

declare module "*/framewright-core.wasm" {
  const module: WebAssembly.Module;
  // biome-ignore lint/style/noDefaultExport: it is how a Worker imports wasm
  export default module;
}

declare module "*/ffmpeg-core.wasm" {
  const module: WebAssembly.Module;
  // biome-ignore lint/style/noDefaultExport: it is how a Worker imports wasm
  export default module;
}

declare module "*/dejavu-sans.bin" {
  const bytes: ArrayBuffer;
  // biome-ignore lint/style/noDefaultExport: it is how a Worker imports data
  export default bytes;
}
