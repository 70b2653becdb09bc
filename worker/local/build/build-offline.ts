import { createHash } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "vite";
import { ROOT } from "../settings.ts";
import { COPYING, LICENSES } from "./licenses.ts";

const ENTRY = join(ROOT, "web", "offline", "service-worker", "main.ts");
const NAME = "service-worker.js";
// The server's own rules for these files, never fetched by a page, and texts that few ever read.
const UNKEPT: readonly string[] = ["/_headers", `/${LICENSES}`, `/${COPYING.page}`];
const VERSION = /(<html\b[^>]*?)(?: data-version="[^"]*")?>/;

/**
 * Writes the service worker of a built page into its folder and stamps `index.html` with the version that the two share:
 * a hash of all files, so that any change makes a new one.
 */
export async function buildOffline(folder: string): Promise<void> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length))
    .filter((path) => path !== `/${NAME}`)
    .sort();
  const index = join(folder, "index.html");
  const page = (await readFile(index, "utf8")).replace(VERSION, "$1>");
  const code = await bundle();
  const hash = createHash("sha256").update(code);
  for (const path of names) {
    hash.update(`${path}\n`);
    hash.update(path === "/index.html" ? page : await readFile(join(folder, path)));
  }
  const version = hash.digest("hex").slice(0, 16);
  await writeFile(index, page.replace(VERSION, `$1 data-version="${version}">`));

  const files = names
    .filter((path) => !UNKEPT.includes(path))
    .map((path) => (path === "/index.html" ? "/" : path));
  const packed = files.filter((path) => path.endsWith(".gz"));
  const sizes = await Promise.all(packed.map(async (path) => (await stat(join(folder, path))).size));
  // The fast core is an empty file where it has not been built.
  const core = packed.filter((_, index) => sizes[index] !== 0);
  const isThreaded = (path: string) => path.includes("/ffmpeg-core-mt.");
  const later = files.filter((path) => /\.(wasm|bin)$/.test(path) || path.includes("/libheif-"));
  const facts = {
    version,
    files: files.filter((path) => !packed.includes(path) && !later.includes(path)),
    later,
    core: core.filter((path) => !isThreaded(path)),
    core_others: core.filter(isThreaded),
  };
  await writeFile(join(folder, NAME), `const BUILD = ${JSON.stringify(facts)};\n${code}`);
}

// One classic script: not every browser accepts a module as a service worker.
async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    build: {
      write: false,
      target: "esnext",
      lib: { entry: ENTRY, formats: ["iife"], name: "serviceWorker" },
    },
  });
  const [{ output } = { output: [] }] = Array.isArray(built) ? built : [];
  const [chunk] = output;
  if (chunk?.type !== "chunk") throw new Error("The service worker was not built.");
  return chunk.code;
}
