import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { buildCore } from "./build-core.ts";
import { ROOT } from "./settings.ts";

/** Builds the page, and puts its files beside the others of an assets folder, from which the service serves them at `/`. */
export async function buildPage(folder: string): Promise<void> {
  await buildCore();
  const configFile = join(ROOT, "web", "vite.config.ts");
  await build({ configFile, logLevel: "warn", build: { reportCompressedSize: false } });
  await mkdir(folder, { recursive: true });
  await cp(join(ROOT, "dist", "web"), folder, { recursive: true });
}
