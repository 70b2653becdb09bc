import { join } from "node:path";
import { build } from "vite";
import { buildCore } from "../../worker/local/build/build-core.ts";

/** Bundles the page of the benchmarks into a folder, as any page would be. */
export async function buildPage(outDir: string): Promise<void> {
  await buildCore();
  await build({
    root: join(import.meta.dirname, "page"),
    configFile: false,
    logLevel: "error",
    worker: { format: "es" },
    build: { outDir, emptyOutDir: true, target: "esnext", chunkSizeWarningLimit: 4000 },
  });
}
