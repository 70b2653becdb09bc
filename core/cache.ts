import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const HERE = import.meta.dirname;
// The files on which the bytes of the core depend.
const RECIPE = /\.(c|h|sh)$|^recipe\.ts$/;

/** Folder of built cores, one for each recipe. */
export const CACHE = process.env.FRAMEWRIGHT_CORE_CACHE ?? join(homedir(), ".cache", "framewright-core");

/** Hash of all that determines the core: sources by version and checksum, flags, and our own C. */
export function recipeHash(): string {
  const hash = createHash("sha256");
  const files = readdirSync(HERE, { recursive: true, encoding: "utf8" }).filter((name) => RECIPE.test(name));
  for (const name of files.toSorted()) hash.update(`${name}\0`).update(readFileSync(join(HERE, name)));
  return hash.digest("hex").slice(0, 16);
}

/**
 * Files of a build: the core, the one for VP9, both as scalar code, the program that checks each kernel, and the cores'
 * license.
 */
export const BUILT = {
  core: "framewright-core.wasm",
  vp9: "framewright-core-vp9.wasm",
  scalar: "framewright-core-scalar.wasm",
  vp9_scalar: "framewright-core-vp9-scalar.wasm",
  check: "framewright-check.wasm",
  license: "COPYING",
} as const;

/** The folder that `npm run core:build` leaves the present recipe's files in. */
export function coreFolder(): string {
  return join(CACHE, recipeHash());
}

/** Path of a built file; null where it has not been built. */
export function findBuilt(name: keyof typeof BUILT): string | null {
  const path = join(coreFolder(), BUILT[name]);
  return existsSync(path) ? path : null;
}
