import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../settings.ts";

const CORE = `@ffmpeg/core (dist/core/): GPL-2.0-or-later, a program of its own that is loaded at run time.
License: https://www.gnu.org/licenses/old-licenses/gpl-2.0.txt
Source: https://github.com/ffmpegwasm/ffmpeg.wasm`;

/** Returns the name of a module's package; null for one of our own. */
export function packageOf(id: string): string | null {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? null;
}

/** Returns the licenses of the packages inside the built files, and where their sources are. */
export async function licensesOf(packages: Iterable<string>): Promise<string> {
  const texts = [CORE];
  for (const name of [...packages].sort()) {
    const folder = join(ROOT, "node_modules", name);
    const { license, version, repository } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    if (!file) throw new Error(`${name} has no license file.`);
    const source = String(repository?.url ?? repository).replace(/^git\+/, "");
    const text = await readFile(join(folder, file), "utf8");
    texts.push(`${name} ${version}: ${license}\nSource: ${source}\n\n${text.trim()}`);
  }
  return `${texts.join("\n\n----\n\n")}\n`;
}
