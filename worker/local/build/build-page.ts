import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build, createServer } from "vite";
import { findBuilt } from "../../../core/cache.ts";
import { ROOT } from "../settings.ts";
import { buildCore, buildThreadedCore } from "./build-core.ts";
import { COPYING, LICENSES, pageLicenses } from "./licenses.ts";

const SOURCES = ["web", "src", "worker/local", "package-lock.json"];
// The clients of the npm package are in `dist/page/`.
const BUILT = join(ROOT, "dist", "page-builds");
const CONFIG = join(ROOT, "web", "vite.config.ts");
const MAX_BUILDS = 3;

/**
 * Copies the page and its service worker into an assets folder, which the service serves at `/`; builds them first unless
 * a build from the same sources is cached.
 */
export async function buildPage(folder: string): Promise<void> {
  const core = findBuilt("core") ? "" : "-stock";
  const page = join(BUILT, (await hashOf(SOURCES, ORIGIN)) + core);
  if (!(await stat(page).catch(() => null))) await buildInto(page);
  await mkdir(folder, { recursive: true });
  await rm(join(folder, "app"), { recursive: true, force: true });
  await cp(page, folder, { recursive: true });
}

async function buildInto(page: string): Promise<void> {
  await buildCore();
  await buildThreadedCore();
  await mkdir(BUILT, { recursive: true });
  const temporary = await mkdtemp(join(BUILT, "making-"));
  try {
    const into = { outDir: temporary, emptyOutDir: true, reportCompressedSize: false };
    const licenses = pageLicenses();
    await build({
      configFile: CONFIG,
      logLevel: "warn",
      build: into,
      plugins: [licenses.page],
      worker: { plugins: () => [licenses.worker] },
    });
    await writePages(temporary);
    await buildOffline(temporary);
    await removeOld();
    // Another process may have finished first.
    await rename(temporary, page).catch(() => stat(page));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** The origin of the built page, such as `https://media.example.com`, for links that other sites follow; empty for relative links. */
const ORIGIN = process.env.PAGE_ORIGIN?.replace(/\/$/, "") ?? "";

/** Writes the start page, and the pages of the jobs, the list and the console, with their content, from the built `index.html`, and lists their headers. */
async function writePages(folder: string): Promise<void> {
  const pages = await renderPages();
  const template = await readFile(join(folder, "index.html"), "utf8");
  const rules = await readFile(join(folder, "_headers"), "utf8");
  const [own = ""] = rules.split(/\n(?=\n|\/)/);
  for (const page of pages) {
    const name = page.path === "/" ? "index" : page.path.slice(1);
    const file = join(folder, `${name}.html`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, pageOf(template, page));
  }
  const others = pages.filter(({ path }) => path !== "/").map(({ path }) => own.replace(/^.*/, path));
  await writeFile(join(folder, "_headers"), [rules.trimEnd(), ...others, ""].join("\n\n"));
}

/** A page of the build, as `web/prerender.tsx` returns it. */
interface PageDocument {
  readonly path: string;
  readonly title: string;
  readonly heading: string;
  /** The line that the cards of all pages share. */
  readonly lead: string;
  readonly description: string;
  /** The path of the picture that shared links show. */
  readonly card: string;
  /** The content before any script runs. */
  readonly html: string;
}

/** Renders the start page, and the pages of the jobs, the list and the console. */
export async function renderPages(): Promise<PageDocument[]> {
  const server = { middlewareMode: true, hmr: false, watch: null } as const;
  const vite = await createServer({
    configFile: CONFIG,
    server,
    appType: "custom",
    logLevel: "error",
    optimizeDeps: { noDiscovery: true },
  });
  try {
    const { prerender } = await vite.ssrLoadModule("/prerender.tsx");
    return prerender();
  } finally {
    await vite.close();
  }
}

function pageOf(template: string, { path, title, description, card, html }: PageDocument): string {
  const facts = [
    ["description", description],
    ["og:type", "website"],
    ["og:title", title],
    ["og:description", description],
    ["og:url", ORIGIN + path],
    ["og:image", ORIGIN + card],
    ["twitter:card", "summary_large_image"],
  ] as const;
  const head = [
    `<title>${escaped(title)}</title>`,
    `<link rel="canonical" href="${escaped(ORIGIN + path)}" />`,
    ...facts.map(([name, content]) => {
      const key = name.startsWith("og:") ? "property" : "name";
      return `<meta ${key}="${name}" content="${escaped(content)}" />`;
    }),
  ];
  return template
    .replace(/\s*<meta name="description"[^>]*>/, "")
    .replace(/<title>.*?<\/title>/, () => head.join("\n    "))
    .replace('<div id="app"></div>', () => `<div id="app">${html}</div>`);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

async function removeOld(): Promise<void> {
  const names = (await readdir(BUILT)).filter((name) => !name.startsWith("making-"));
  const dated = await Promise.all(
    names.map(async (name) => ({ name, modified: (await stat(join(BUILT, name))).mtimeMs })),
  );
  const old = dated.sort((one, other) => other.modified - one.modified).slice(MAX_BUILDS - 1);
  for (const { name } of old) await rm(join(BUILT, name), { recursive: true, force: true });
}

async function hashOf(paths: readonly string[], origin: string): Promise<string> {
  const hash = createHash("sha256").update(origin);
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

const ENTRY = join(ROOT, "web", "offline", "service-worker", "main.ts");
const NAME = "service-worker.js";
const UNCACHED: readonly string[] = ["/_headers", `/${LICENSES}`, `/${COPYING.page}`];
/** Folder of the preview pictures, which only other sites load. */
const CARDS = "/cards/";
const VERSION = /(<html\b[^>]*?)(?: data-version="[^"]*")?>/;

/** Writes the service worker of a built page into its folder, and stamps it and each HTML file with a version, the hash of all files. */
export async function buildOffline(folder: string): Promise<void> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length))
    .filter((path) => path !== `/${NAME}`)
    .sort();
  const html = names.filter((path) => path.endsWith(".html"));
  const pages = new Map<string, string>();
  for (const path of html) {
    pages.set(path, (await readFile(join(folder, path), "utf8")).replace(VERSION, "$1>"));
  }
  const code = await bundle();
  const hash = createHash("sha256").update(code);
  for (const path of names) {
    hash.update(`${path}\n`).update(pages.get(path) ?? (await readFile(join(folder, path))));
  }
  const version = hash.digest("hex").slice(0, 16);
  for (const [path, page] of pages) {
    await writeFile(join(folder, path), page.replace(VERSION, `$1 data-version="${version}">`));
  }

  // The server has `/gif` for `gif.html`, and `/` for `index.html`.
  const addressOf = (path: string) => path.replace(/(?<=\/)index\.html$|\.html$/, "");
  const files = names
    .filter((path) => !UNCACHED.includes(path) && !path.startsWith(CARDS))
    .map((path) => (pages.has(path) ? addressOf(path) : path));
  const packed = files.filter((path) => path.endsWith(".gz"));
  const sizes = await Promise.all(packed.map(async (path) => (await stat(join(folder, path))).size));
  // A fast core that has not been built is an empty file.
  const core = packed.filter((_, index) => sizes[index] !== 0);
  const isThreaded = (path: string) => path.includes("/ffmpeg-core-mt.");
  const later = files.filter((path) => /\.(wasm|bin)$/.test(path) || path.includes("/libheif-"));
  const facts = {
    version,
    pages: html.map(addressOf),
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
