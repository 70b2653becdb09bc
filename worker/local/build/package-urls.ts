import { dirname, join, relative } from "node:path";
import { ROOT } from "../settings.ts";

/** Folder of what `npm pack` takes along, beside the core's. */
export const DIST = join(ROOT, "dist");
/** The workers of a page, by the name of their file in `dist/workers/`. */
export const WORKER_FILES = {
  "media-worker": "src/browser/media-worker/media-worker.ts",
  "copy-worker": "src/browser/encoders/copy-worker.ts",
  "image-worker": "src/browser/encoders/image-worker.ts",
  "encoder-worker": "src/encoders/pool/encoder-worker.ts",
} as const;
/** The wasm of the AVIF encoder, which the package has beside its workers. */
export const AVIF_WASM = "@jsquash/avif/codec/enc/avif_enc.wasm";

const NEW_URL = /new URL\("([^"]+)", import\.meta\.url\)/g;

/** Where a file is in the package that a source file of ours names by a URL beside its own, both below {@link ROOT}; throws for what the package has not. */
function inPackage(origin: string, name: string): string {
  if (name === AVIF_WASM) return "dist/workers/avif_enc.wasm";
  const path = join(dirname(origin), name);
  if (path.startsWith("dist/core/")) return path;
  const worker = Object.entries(WORKER_FILES).find(([, source]) => source === path);
  if (!worker) throw new Error(`${origin} names ${name}, which is no file of the package.`);
  return `dist/workers/${worker[0]}.js`;
}

/** Turns the URLs in the code of a source file into those that hold in a folder of the package; all paths are below {@link ROOT}. */
export function moveUrls(code: string, origin: string, folder: string, base = "import.meta.url"): string {
  return code.replace(NEW_URL, (_, name: string) => {
    const path = relative(folder, inPackage(origin, name));
    return `new URL("${path.startsWith(".") ? path : `./${path}`}", ${base})`;
  });
}
