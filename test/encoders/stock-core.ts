import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { CreateCore, Instantiate } from "../../src/encoders/wasm/core-module.ts";

const require = createRequire(import.meta.url);
// The package's main entry is in a sibling folder of the ESM build.
const folder = new URL("../esm/", `file://${require.resolve("@ffmpeg/core")}`);

export const glueText = readFileSync(new URL("ffmpeg-core.js", folder), "utf8");

// The glue is built for a web worker and reads its location.
Object.assign(globalThis, { self: globalThis, location: { href: folder.href } });
const { default: createCore } = (await import(new URL("ffmpeg-core.js", folder).href)) as {
  default: CreateCore;
};
const module = new WebAssembly.Module(readFileSync(new URL("ffmpeg-core.wasm", folder)));
const instantiate: Instantiate = (imports) =>
  new WebAssembly.Instance(module, imports as WebAssembly.Imports) as { exports: Record<string, unknown> };

/** The unmodified `@ffmpeg/core`, loaded in Node. */
export const stockCore = { createCore, instantiate };
