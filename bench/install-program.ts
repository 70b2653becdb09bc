import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { runCommand } from "./run-command.ts";

const CACHE = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");

/**
 * Returns the folder of an npm package that only a benchmark needs, and which is therefore not in package.json: the first run installs
 * that version from the registry into the user's cache.
 */
export async function installProgram(name: string, version: string): Promise<string> {
  const folder = join(CACHE, "framewright", `${name}-${version}`);
  const installed = join(folder, "node_modules", name);
  if (existsSync(installed)) return installed;
  // Another run may be installing too: the first one wins.
  const fresh = `${folder}-${crypto.randomUUID()}`;
  await mkdir(fresh, { recursive: true });
  await writeFile(join(fresh, "package.json"), '{ "private": true }');
  const args = [
    "install",
    "--prefix",
    fresh,
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    `${name}@${version}`,
  ];
  await runCommand("npm", args);
  await rename(fresh, folder).catch(() => rm(fresh, { recursive: true }));
  return installed;
}
