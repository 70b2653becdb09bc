import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { findBuilt } from "../../../core/cache.ts";
import { ROOT } from "../settings.ts";
import { buildCore, buildThreadedCore } from "./build-core.ts";
import { buildOffline } from "./build-offline.ts";
import { pageLicenses } from "./licenses.ts";

// What the page depends on: its own code, the library, the packages and the build scripts.
const MADE_OF = ["web", "src", "worker/local", "package-lock.json"];
const BUILT = join(ROOT, "dist", "page");
const KEPT = 3;

/**
 * Copies the page and its service worker into an assets folder, which the service serves at `/`; builds them first unless
 * a build from the same sources is cached.
 */
export async function buildPage(folder: string): Promise<void> {
  // The core's facts are in src; whether it is there is not.
  const core = findBuilt("core") ? "" : "-stock";
  const page = join(BUILT, (await hashOf(MADE_OF)) + core);
  if (!(await stat(page).catch(() => null))) await buildInto(page);
  await mkdir(folder, { recursive: true });
  // Left over from an earlier build.
  await rm(join(folder, "app"), { recursive: true, force: true });
  await cp(page, folder, { recursive: true });
}

async function buildInto(page: string): Promise<void> {
  await buildCore();
  await buildThreadedCore();
  await mkdir(BUILT, { recursive: true });
  // A fresh folder: other processes may build at the same time.
  const making = await mkdtemp(join(BUILT, "making-"));
  try {
    const configFile = join(ROOT, "web", "vite.config.ts");
    const into = { outDir: making, emptyOutDir: true, reportCompressedSize: false };
    const licenses = pageLicenses();
    await build({
      ...{ configFile, logLevel: "warn", build: into, plugins: [licenses.page] },
      worker: { plugins: () => [licenses.worker] },
    });
    await buildOffline(making);
    await forgetOld();
    // Another process may have finished first.
    await rename(making, page).catch(() => stat(page));
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function forgetOld(): Promise<void> {
  const names = (await readdir(BUILT)).filter((name) => !name.startsWith("making-"));
  const dated = await Promise.all(
    names.map(async (name) => ({ name, made: (await stat(join(BUILT, name))).mtimeMs })),
  );
  const old = dated.sort((one, other) => other.made - one.made).slice(KEPT - 1);
  for (const { name } of old) await rm(join(BUILT, name), { recursive: true, force: true });
}

async function hashOf(paths: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const path of paths) {
    for (const file of await filesIn(path)) hash.update(`${file}\n`).update(await readFile(join(ROOT, file)));
  }
  return hash.digest("hex").slice(0, 24);
}

async function filesIn(path: string): Promise<string[]> {
  if ((await stat(join(ROOT, path))).isFile()) return [path];
  const entries = await readdir(join(ROOT, path), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".tsbuildinfo"))
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length))
    .sort();
}
