import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The folder that holds package.json. */
export const ROOT = join(import.meta.dirname, "..", "..");

/** One file of the repository. */
export interface SourceFile {
  /** Relative to the repository's root, with slashes. */
  path: string;
  text: string;
}

/** Reads every TypeScript file of the folders, which are relative to the repository's root. */
export function readSources(...folders: string[]): SourceFile[] {
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,tsx}`);
  const paths = globSync(patterns, {
    cwd: ROOT,
    exclude: (name) => /(^|\/)(node_modules|dist|\.wrangler)$/.test(name),
  });
  return paths.sort().map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}
