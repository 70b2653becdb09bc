import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { constants, gunzip, gzip } from "node:zlib";
import { findBuilt } from "../../../core/cache.ts";
import {
  CORE_FILES,
  CORE_MT_FILES,
  type CoreFile,
  FAST_CORE_FILES,
  VP9_CORE_FILES,
} from "../../../src/encoders/wasm/core-facts.ts";
import { BURN_FONT } from "../../../src/media/features/subtitles.ts";
import { MIB } from "../../../src/util/bytes.ts";
import { ROOT } from "../settings.ts";
import { FONT_PACKAGE } from "./licenses.ts";

const MAX_FILE_BYTES = 25 * MIB;
const FOLDER = join(ROOT, "dist", "core");

/**
 * Writes the cores to a folder, `dist/core/` by default, in the form that a page loads: `ffmpeg-core.wasm.gz`, `ffmpeg-core.js`,
 * a packed copy of that script for servers that transform any `.js` they find (`ffmpeg-core.js.gz`), and the files of
 * {@link buildFastCore}. Skips files that are up to date. Throws when a core is not the one in core-facts.ts.
 */
export async function buildCore(folder = FOLDER, tell?: (line: string) => void): Promise<void> {
  await mkdir(folder, { recursive: true });
  const [glue, wasm] = await Promise.all([
    readStock("@ffmpeg/core", "ffmpeg-core.js", CORE_FILES.glue),
    readStock("@ffmpeg/core", "ffmpeg-core.wasm", CORE_FILES.wasm),
  ]);
  await placeOnce(glue, join(folder, "ffmpeg-core.js"));
  await pack(glue, CORE_FILES.glue, join(folder, "ffmpeg-core.js.gz"));
  await pack(wasm, CORE_FILES.wasm, join(folder, "ffmpeg-core.wasm.gz"));
  await buildFastCore(folder, tell);
  await buildFont(folder);
}

/** Writes the font of burnt-in subtitles, gzipped, to a folder, `dist/core/` by default: `dejavu-sans.bin`, which Workers import as data. */
export async function buildFont(folder = FOLDER): Promise<void> {
  await mkdir(folder, { recursive: true });
  const path = createRequire(import.meta.url).resolve(`${FONT_PACKAGE}/ttf/DejaVuSans.ttf`);
  await pack(await readRight(path, BURN_FONT), BURN_FONT, join(folder, "dejavu-sans.bin"));
}

// An empty module that replaces a fast core that has not been built, because bundlers fail on a missing file.
const EMPTY_MODULE = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

/**
 * Writes the fast cores to a folder, `dist/core/` by default: `framewright-core.wasm` for Workers and, for pages,
 * `framewright-core.wasm.gz` and `framewright-core-vp9.wasm.gz`. Where they have not been built, the first is an empty
 * module, the others are empty files, and `tell` receives a line about the consequences.
 */
export async function buildFastCore(folder = FOLDER, tell: (line: string) => void = () => {}): Promise<void> {
  await mkdir(folder, { recursive: true });
  const plain = join(folder, "framewright-core.wasm");
  const packed = { core: `${plain}.gz`, vp9: join(folder, "framewright-core-vp9.wasm.gz") };
  const [core, vp9] = [findBuilt("core"), findBuilt("vp9")];
  if (!core || !vp9) {
    tell("The fast core is not built (npm run core:build): video and sound take several times as long.");
    await placeOnce(EMPTY_MODULE, plain);
    for (const path of Object.values(packed)) await placeOnce(Buffer.alloc(0), path);
    return;
  }
  const bytes = await readRight(core, FAST_CORE_FILES.wasm);
  await placeOnce(bytes, plain);
  await pack(bytes, FAST_CORE_FILES.wasm, packed.core);
  await pack(await readRight(vp9, VP9_CORE_FILES.wasm), VP9_CORE_FILES.wasm, packed.vp9);
}

async function readRight(path: string, file: CoreFile): Promise<Buffer> {
  const bytes = await readFile(path);
  if (isRight(bytes, file)) return bytes;
  const actual = `${bytes.length} bytes, SHA-256 ${hashOf(bytes)}`;
  throw new Error(`${basename(path)} is not the one that src/ names: it has ${actual}.`);
}

async function placeOnce(bytes: Buffer, path: string): Promise<void> {
  const current = await readFile(path).catch(() => null);
  if (!current?.equals(bytes)) await place(bytes, path);
}

const THREADED = {
  "ffmpeg-core.js": CORE_MT_FILES.glue,
  "ffmpeg-core.worker.js": CORE_MT_FILES.threads,
  "ffmpeg-core.wasm": CORE_MT_FILES.wasm,
} as const;

/**
 * Writes the core with threads, packed in the same way, to a folder that is not published, `dist/core-mt/` by default.
 * Throws when the package in node_modules is not the one in {@link CORE_MT_FILES}.
 */
export async function buildThreadedCore(folder = join(ROOT, "dist", "core-mt")): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, file] of Object.entries(THREADED)) {
    const path = join(folder, `${name.replace("core", "core-mt")}.gz`);
    if (await isPacked(path, file)) continue;
    await pack(await readStock("@ffmpeg/core-mt", name, file), file, path);
  }
}

async function readStock(name: string, path: string, file: CoreFile): Promise<Buffer> {
  const main = createRequire(import.meta.url).resolve(name);
  const bytes = await readFile(join(dirname(main), "..", "esm", path));
  if (!isRight(bytes, file)) {
    throw new Error(`${path} of ${name} in node_modules is not the one this package drives.`);
  }
  return bytes;
}

async function pack(bytes: Buffer, file: CoreFile, path: string): Promise<void> {
  if (await isPacked(path, file)) return;
  const packed = await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION });
  if (packed.length > MAX_FILE_BYTES)
    throw new Error(`${path} has ${packed.length} bytes; the limit is ${MAX_FILE_BYTES}.`);
  await place(packed, path);
}

function isRight(bytes: Buffer, file: CoreFile): boolean {
  return hashOf(bytes) === file.sha256;
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function isPacked(path: string, file: CoreFile): Promise<boolean> {
  try {
    return isRight(await promisify(gunzip)(await readFile(path)), file);
  } catch {
    return false;
  }
}

async function place(bytes: Buffer, path: string): Promise<void> {
  const temporary = join(dirname(path), `making-${randomUUID()}`);
  await writeFile(temporary, bytes);
  await rename(temporary, path);
}

if (import.meta.main) {
  await buildCore(FOLDER, console.error);
  await buildThreadedCore();
}
