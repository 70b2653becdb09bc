import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build, type Plugin } from "vite";
import { runMain } from "../cli.ts";
import { ROOT } from "../settings.ts";
import { buildCore } from "./build-core.ts";
import { buildFonts } from "./build-fonts.ts";
import { COPYING, gplText, LICENSES, packageLicenses, packageOf } from "./licenses.ts";

const PROJECTS = ["src", "src/browser", "worker"];
const PAGE_FILES = {
  index: "src/index.ts",
  browser: "src/browser/index.ts",
  client: "src/client/index.ts",
} as const;
// Replaces `import.meta.url` while Vite bundles, because Vite would resolve such URLs itself.
const HERE = "__framewright_here__";

/**
 * Builds the contents of the npm package: `dist/lib/`, every module with its types, for bundlers; `dist/workers/`, a page's
 * workers with their dependencies bundled; `dist/page/`, the clients, bundled likewise for pages without a bundler; and
 * `dist/core/`.
 */
export async function buildPackage(): Promise<void> {
  await buildCore(undefined, console.error);
  await buildFonts(undefined, console.error);
  await buildModules(join(DIST, "lib"));
  const inside = await buildPageParts(DIST);
  await writeFile(join(DIST, LICENSES), await packageLicenses(inside));
  const gpl = await gplText();
  if (gpl) await writeFile(join(DIST, "core", COPYING.package), gpl);
}

/**
 * Builds the package's `workers/` and `page/` in a folder; at run time they look for `core/` in that folder too.
 * Returns the names of the packages bundled into them.
 */
export async function buildPageParts(folder: string): Promise<ReadonlySet<string>> {
  const inside = await buildWorkers(folder);
  // Built separately as one file without imports, so that it can run from a blob URL.
  const core = await bundle(FFMPEG_FILES, "ffmpeg", folder);
  return new Set([...inside, ...core, ...(await bundle(PAGE_FILES, "page", folder))]);
}

/** Builds the package's `workers/` in a folder; returns the names of the packages bundled into them. */
export async function buildWorkers(folder: string): Promise<string[]> {
  const inside = await bundle(WORKER_FILES, "workers", folder);
  const avif = await readFile(createRequire(import.meta.url).resolve(AVIF_WASM));
  await writeFile(join(folder, "workers", "avif_enc.wasm.gz"), gzipSync(avif, { level: 9 }));
  return inside;
}

async function buildModules(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const tsc = join(ROOT, "node_modules", ".bin", "tsc");
  const flags =
    "--noEmit false --declaration --incremental false --noCheck --rewriteRelativeImportExtensions";
  const paths = ["--rootDir", ROOT, "--outDir", folder, "--listEmittedFiles"];
  const written = new Set<string>();
  for (const project of PROJECTS) {
    const args = ["-p", join(ROOT, project), ...flags.split(" "), ...paths];
    const { stdout } = await promisify(execFile)(tsc, args, { cwd: ROOT, maxBuffer: 1 << 26 });
    for (const [, path = ""] of stdout.matchAll(/^TSFILE: (.+)$/gm)) written.add(path);
  }
  const whole = new Set<string>(Object.values({ ...WORKER_FILES, ...FFMPEG_FILES }));
  for (const path of written) {
    const origin = relative(folder, path).replace(/(\.d\.ts|\.js)$/, ".ts");
    if (whole.has(origin)) await rm(path);
    else {
      const moved = (text: string) => moveUrls(text, origin, relative(ROOT, dirname(path)));
      await rewrite(path, (text) => importSchemas(namesOfFiles(moved(text))));
    }
  }
}

// The compiler does not rewrite extensions in declarations. Only the user's bundler knows where a package is installed.
function namesOfFiles(text: string): string {
  return text
    .replace(/((?:from|import) ?\(?"\.[^"]*)\.ts"/g, '$1.js"')
    .replace('"../../node_modules/@ffmpeg/core/dist/esm/ffmpeg-core.wasm"', '"@ffmpeg/core/wasm"')
    .replace(/"\.\.\/\.\.\/dist\/core\/([\w.-]+)"/g, '"../../../core/$1"');
}

// Bundlers drop unused exports of a namespace import only, and Parcel loses the `z` that zod exports by name.
function importSchemas(text: string): string {
  return text.replaceAll('import { z } from "zod";', 'import * as z from "zod";');
}

async function rewrite(path: string, change: (text: string) => string): Promise<void> {
  const text = await readFile(path, "utf8");
  const changed = change(text);
  if (changed !== text) await writeFile(path, changed);
}

async function bundle(
  entries: Readonly<Record<string, string>>,
  part: string,
  target: string,
): Promise<string[]> {
  const folder = join(target, part);
  const entry = Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(ROOT, path)]));
  const built = await build({
    root: ROOT,
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    plugins: [keepUrls(relative(ROOT, join(DIST, part)))],
    build: {
      write: false,
      target: "esnext",
      minify: "oxc",
      lib: { entry, formats: ["es"] },
      // Vite keeps the white space of libraries.
      rolldownOptions: { output: { chunkFileNames: "[name].js", minify: true } },
    },
  });
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const inside: (string | null)[] = [];
  for (const { output } of Array.isArray(built) ? built : "output" in built ? [built] : []) {
    for (const file of output) {
      if (file.type !== "chunk") throw new Error(`${file.fileName} is not a script.`);
      await writeFile(join(folder, file.fileName), withQuotes(file.code).replaceAll(HERE, "import.meta.url"));
      inside.push(...file.moduleIds.map(packageOf));
    }
  }
  return inside.filter((name) => name !== null);
}

// Minifying turns strings into template literals, in which bundlers do not find workers or the test for Node's `process`.
function withQuotes(code: string): string {
  return code.replace(/(new URL\(|import\(|\btype:|\btypeof process==)`([\w./-]+)`/g, '$1"$2"');
}

function keepUrls(folder: string): Plugin {
  return {
    name: "keep-urls",
    enforce: "pre",
    transform(code, id) {
      const origin = relative(ROOT, id);
      if (origin.endsWith("/avif_enc.js")) return withoutWasm(code);
      if (origin.endsWith("/libheif-bundle.mjs")) return withSmallWasm(code);
      return origin.startsWith("src/") ? moveUrls(code, origin, folder, HERE) : null;
    },
  };
}

// Callers pass the wasm themselves; assigning to import.meta.url breaks bundlers that put a string there.
const AVIF_CHANGES = [
  ['new URL("avif_enc.wasm",import.meta.url).href', '""'],
  ['if(import.meta.url===undefined){import.meta.url="https://localhost"}', ""],
] as const;

function withoutWasm(code: string): string {
  return AVIF_CHANGES.reduce((before, [part, instead]) => {
    if (!before.includes(part)) throw new Error(`The AVIF encoder no longer contains ${part}.`);
    return before.replace(part, instead);
  }, code);
}

// The HEIC decoder embeds its wasm as text, which takes a third of the space when compressed.
const HEIF_WASM = /([\w$]+)=([\w$]+)\("(AGFzb[\w+/=]+)"\)/;
const HEIF_EXPORT = /\((\w+)=\{\}\)=>(\(0,[\w$]+\.default\)\(\{\.\.\.\1,wasmBinary:)([\w$]+)\}\)/;
const INFLATE =
  "const inflate=(bytes)=>new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();";

function withSmallWasm(code: string): string {
  const [whole, name, decode, base64 = ""] = HEIF_WASM.exec(code) ?? [];
  const small = gzipSync(Buffer.from(base64, "base64"), { level: 9 }).toString("base64");
  if (!whole || HEIF_EXPORT.exec(code)?.[3] !== name)
    throw new Error("The decoder of HEIC is not as it was.");
  return `${INFLATE}${code.replace(whole, `${name}=inflate(${decode}("${small}"))`)}`.replace(
    HEIF_EXPORT,
    "async($1={})=>$2await $3})",
  );
}

if (import.meta.main) runMain(buildPackage);

const DIST = join(ROOT, "dist");
/** The workers of a page, by the name of their file in `dist/workers/`. */
const WORKER_FILES = {
  "media-worker": "src/browser/media-worker/media-worker.ts",
  "copy-worker": "src/browser/encoders/copy-worker.ts",
  "image-worker": "src/browser/encoders/image-worker.ts",
  "decode-worker": "src/browser/encoders/decode-worker.ts",
  "encoder-worker": "src/encoders/wasm/encoder-worker.ts",
} as const;
/** The module that plain `@ffmpeg/ffmpeg` imports, built into `dist/ffmpeg/`. */
const FFMPEG_FILES = { "ffmpeg-core": "src/encoders/wasm/ffmpeg-core.ts" } as const;
const AVIF_WASM = "@jsquash/avif/codec/enc/avif_enc.wasm";

const NEW_URL = /new URL\("([^"]+)", import\.meta\.url\)/g;

/**
 * Returns the path in the package of a file that one of our source files names relative to itself; paths are relative
 * to {@link ROOT}. Throws when the package does not contain it.
 */
function inPackage(origin: string, name: string): string {
  if (name === AVIF_WASM) return "dist/workers/avif_enc.wasm.gz";
  const path = join(dirname(origin), name);
  if (path.startsWith("dist/core/")) return path;
  const worker = Object.entries(WORKER_FILES).find(([, source]) => source === path);
  if (!worker) throw new Error(`${origin} names ${name}, which the package does not contain.`);
  return `dist/workers/${worker[0]}.js`;
}

/**
 * Rewrites the URLs in a source file's code so that they resolve from a folder of the package; paths are relative to {@link
 * ROOT}.
 */
function moveUrls(code: string, origin: string, folder: string, base = "import.meta.url"): string {
  return code.replace(NEW_URL, (_, name: string) => {
    const path = relative(folder, inPackage(origin, name));
    return `new URL("${path.startsWith(".") ? path : `./${path}`}", ${base})`;
  });
}
