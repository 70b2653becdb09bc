import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { buildCore, buildThreadedCore } from "./build-core.ts";
import { buildOffline } from "./build-offline.ts";
import { ROOT } from "./settings.ts";

/** Builds the page with its service worker, and puts its files beside the others of an assets folder, from which the service serves them at `/`. */
export async function buildPage(folder: string): Promise<void> {
  await buildCore();
  await buildThreadedCore();
  await mkdir(folder, { recursive: true });
  // A folder of its own: others may build at the same time, and what an earlier build named is of no use any more.
  const making = await mkdtemp(join(folder, "..", "making-page-"));
  try {
    const configFile = join(ROOT, "web", "vite.config.ts");
    const into = { outDir: making, emptyOutDir: true, reportCompressedSize: false };
    await build({ configFile, logLevel: "warn", build: into });
    await buildOffline(making);
    await rm(join(folder, "app"), { recursive: true, force: true });
    await cp(making, folder, { recursive: true });
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}
