import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { CreateCore, Instantiate } from "../../src/encoders/core/core-module.ts";

const require = createRequire(import.meta.url);
// The package's main entry is beside the files of the ESM build.
const folder = new URL("../esm/", `file://${require.resolve("@ffmpeg/core")}`);

/** The text of the stock glue. */
export const glueText = readFileSync(new URL("ffmpeg-core.js", folder), "utf8");

// The glue is made for a page's worker and looks for its address.
Object.assign(globalThis, { self: globalThis, location: { href: folder.href } });
const { default: createCore } = (await import(new URL("ffmpeg-core.js", folder).href)) as {
  default: CreateCore;
};
const module = new WebAssembly.Module(readFileSync(new URL("ffmpeg-core.wasm", folder)));
const instantiate: Instantiate = (imports) =>
  new WebAssembly.Instance(module, imports as WebAssembly.Imports) as { exports: Record<string, unknown> };

/** The unmodified `@ffmpeg/core`, as Node loads it. */
export const stockCore = { createCore, instantiate };
