import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { constants, gunzip, gzip } from "node:zlib";
import { CORE_FILES } from "../../src/encoders/core-load-facts.ts";
import { ROOT } from "./settings.ts";

// No static file of a Worker may be larger.
const MOST = 25 * 2 ** 20;

/**
 * Writes the stock core as a page loads it to a folder, `dist/core/` by default: `ffmpeg-core.wasm.gz` and `ffmpeg-core.js`, which a server may
 * take for a script of its own and change on the way: so it is there as `ffmpeg-core.js.gz` too. Throws when
 * the package in node_modules is not the one that {@link CORE_FILES} tells of. What is right already stays untouched.
 */
export async function buildCore(folder = join(ROOT, "dist", "core")): Promise<void> {
  const main = createRequire(import.meta.url).resolve("@ffmpeg/core");
  const stock = join(dirname(main), "..", "esm");
  const read = async (name: string, file: keyof typeof CORE_FILES) => {
    const bytes = await readFile(join(stock, name));
    if (!isRight(bytes, file)) throw new Error(`${name} in node_modules is not the one this package drives.`);
    return bytes;
  };
  await mkdir(folder, { recursive: true });
  const [glue, wasm] = await Promise.all([read("ffmpeg-core.js", "glue"), read("ffmpeg-core.wasm", "wasm")]);
  const script = join(folder, "ffmpeg-core.js");
  const there = await readFile(script).catch(() => null);
  if (!there || !isRight(there, "glue")) await place(glue, script);
  await pack(glue, "glue", join(folder, "ffmpeg-core.js.gz"));
  await pack(wasm, "wasm", join(folder, "ffmpeg-core.wasm.gz"));
}

async function pack(bytes: Buffer, file: keyof typeof CORE_FILES, path: string): Promise<void> {
  if (await isPacked(path, file)) return;
  const packed = await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION });
  if (packed.length > MOST) throw new Error(`${path} has ${packed.length} bytes, and may have ${MOST}.`);
  await place(packed, path);
}

function isRight(bytes: Buffer, file: keyof typeof CORE_FILES): boolean {
  return createHash("sha256").update(bytes).digest("hex") === CORE_FILES[file].sha256;
}

async function isPacked(path: string, file: keyof typeof CORE_FILES): Promise<boolean> {
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

if (import.meta.main) await buildCore();
