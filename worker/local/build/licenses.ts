import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin, Rolldown } from "vite";
import { findBuilt } from "../../../core/cache.ts";
import { DEBIAN, SOURCES } from "../../../core/recipe.ts";
import { ROOT } from "../settings.ts";

/** The file that lists every part of a build with its license and source. */
export const LICENSES = "LICENSES.txt";
/** The files with the text of the GPL, the license of the cores, in the package and beside the page. */
export const COPYING = { package: "COPYING", page: "COPYING.txt" } as const;

const GPL = "https://www.gnu.org/licenses/old-licenses/gpl-2.0.txt";
const DEBIAN_GPL = "/usr/share/common-licenses/GPL-2";

const COPYRIGHTS: Readonly<Record<string, string>> = { thumbhash: "Copyright (c) 2023 Evan Wallace" };
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

const stock = (
  name: string,
  files: string,
) => `${name} (${files}): GPL-2.0-or-later, a program of its own that is loaded at run time.
License: ${GPL}
Source: https://github.com/ffmpegwasm/ffmpeg.wasm`;

const fast = (
  files: string,
  copying: string,
) => `framewright-core (${files}): GPL-2.0-or-later (${copying}), programs of their own that are loaded at run time.
The recipe that builds them, with this project's own kernels, is the folder core/ of the package framewright; it fetches these sources:
${Object.entries(SOURCES)
  .map(([name, { version, license, path }]) => `${name} ${version}: ${license}, ${DEBIAN.mirror}/${path}`)
  .join("\n")}`;

/** The package of the font for burnt-in subtitles. */
export const FONT_PACKAGE = "dejavu-fonts-ttf";

/** The packages of the fonts for other scripts, in the order in which they are tried. */
export const SCRIPT_FONT_PACKAGES: readonly string[] = [
  ...["devanagari", "bengali", "gurmukhi", "gujarati", "oriya", "tamil", "telugu", "kannada", "malayalam"],
  ...["sinhala", "thai", "khmer", "myanmar", "ethiopic", "thaana", "jp", "kr", "sc"],
].map((script) => `@fontsource/noto-sans-${script}`);

/** Returns the text of the GPL; null on a machine that does not have it. */
export async function gplText(): Promise<string | null> {
  return readFile(findBuilt("license") ?? DEBIAN_GPL, "utf8").catch(() => null);
}

/** Returns the licenses of the cores in the package, and of the packages inside its built files, with links to their sources. */
export function packageLicenses(packages: Iterable<string>): Promise<string> {
  const cores = [stock("@ffmpeg/core", "dist/core/ffmpeg-core.*")];
  if (findBuilt("core")) cores.push(fast("dist/core/framewright-core*", `dist/core/${COPYING.package}`));
  return licensesOf(cores, packages);
}

/** Collects the packages that Vite bundles into the page and its workers, and writes their licenses beside them. */
export function pageLicenses(): { page: Plugin; worker: Plugin } {
  const inside = new Set<string>();
  const collect = (bundle: Rolldown.OutputBundle) => {
    for (const file of Object.values(bundle)) {
      if (file.type !== "chunk") continue;
      for (const id of file.moduleIds) {
        const name = packageOf(id);
        if (name) inside.add(name);
      }
    }
  };
  const cores = [
    stock("@ffmpeg/core", "app/ffmpeg-core*"),
    stock("@ffmpeg/core-mt", "app/ffmpeg-core-mt*, for H.265"),
  ];
  if (findBuilt("core")) cores.push(fast("app/framewright-core*", COPYING.page));
  return {
    worker: { name: "collect-licenses", generateBundle: (_, bundle) => collect(bundle) },
    page: {
      name: "write-licenses",
      apply: "build",
      async generateBundle(_, bundle) {
        collect(bundle);
        this.emitFile({ type: "asset", fileName: LICENSES, source: await licensesOf(cores, inside) });
        const gpl = await gplText();
        if (gpl) this.emitFile({ type: "asset", fileName: COPYING.page, source: gpl });
      },
    },
  };
}

/** Returns the name of a module's package; null for one of our own. */
export function packageOf(id: string): string | null {
  return /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? null;
}

async function licensesOf(cores: readonly string[], packages: Iterable<string>): Promise<string> {
  const texts = [...cores];
  const fonts = SCRIPT_FONT_PACKAGES.filter((name) => existsSync(join(ROOT, "node_modules", name)));
  for (const name of [...packages, FONT_PACKAGE, ...fonts].sort()) {
    const folder = join(ROOT, "node_modules", name);
    const { license, version, repository } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    const copyright = COPYRIGHTS[name];
    if (!file && !(copyright && license === "MIT")) throw new Error(`${name} has no license file.`);
    const source = String(repository?.url ?? repository).replace(/^git\+/, "");
    const text = file ? await readFile(join(folder, file), "utf8") : `${copyright}\n\n${MIT}`;
    texts.push(`${name} ${version}: ${license}\nSource: ${source}\n\n${text.trim()}`);
  }
  return `${texts.join("\n\n----\n\n")}\n`;
}
