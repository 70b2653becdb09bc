import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { constants, gunzip, gzip } from "node:zlib";
import { CORE_FILES, CORE_MT_FILES, type CoreFile } from "../../../src/encoders/core/core-load-facts.ts";
import { MIB } from "../../../src/util/bytes.ts";
import { ROOT } from "../settings.ts";

// No static file of a Worker may be larger.
const MOST = 25 * MIB;

/**
 * Writes the stock core as a page loads it to a folder, `dist/core/` by default: `ffmpeg-core.wasm.gz` and `ffmpeg-core.js`, which a server may
 * take for a script of its own and change on the way: so it is there as `ffmpeg-core.js.gz` too. Throws when
 * the package in node_modules is not the one that {@link CORE_FILES} tells of. What is right already stays untouched.
 */
export async function buildCore(folder = join(ROOT, "dist", "core")): Promise<void> {
  await mkdir(folder, { recursive: true });
  const [glue, wasm] = await Promise.all([
    readStock("@ffmpeg/core", "ffmpeg-core.js", CORE_FILES.glue),
    readStock("@ffmpeg/core", "ffmpeg-core.wasm", CORE_FILES.wasm),
  ]);
  const script = join(folder, "ffmpeg-core.js");
  const there = await readFile(script).catch(() => null);
  if (!there || !isRight(there, CORE_FILES.glue)) await place(glue, script);
  await pack(glue, CORE_FILES.glue, join(folder, "ffmpeg-core.js.gz"));
  await pack(wasm, CORE_FILES.wasm, join(folder, "ffmpeg-core.wasm.gz"));
}

const THREADED = {
  "ffmpeg-core.js": CORE_MT_FILES.glue,
  "ffmpeg-core.worker.js": CORE_MT_FILES.threads,
  "ffmpeg-core.wasm": CORE_MT_FILES.wasm,
} as const;

/**
 * Writes the core with threads, packed in the same way, to a folder that no package has, `dist/core-mt/` by default. Throws when the package in
 * node_modules is not the one that {@link CORE_MT_FILES} tells of.
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
  if (packed.length > MOST) throw new Error(`${path} has ${packed.length} bytes, and may have ${MOST}.`);
  await place(packed, path);
}

function isRight(bytes: Buffer, file: CoreFile): boolean {
  return createHash("sha256").update(bytes).digest("hex") === file.sha256;
}

async function isPacked(path: string, file: CoreFile): Promise<boolean> {
  try {
    return isRight(await promisify(gunzip)(await readFile(path)), file);
  } catch {
    return false;
  }
}

async function place(bytes: Buffer, path: string): Promise<void> {
  const making = join(dirname(path), `making-${randomUUID()}`);
  await writeFile(making, bytes);
  await rename(making, path);
}

if (import.meta.main) {
  await buildCore();
  await buildThreadedCore();
}
