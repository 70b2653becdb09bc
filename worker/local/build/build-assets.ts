import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { PAGE_FILES } from "../../api/reference-page.ts";
import { placeFonts } from "./build-fonts.ts";

const ROOT = new URL("../../../", import.meta.url);
const SWAGGER = new URL("node_modules/swagger-ui-dist/", ROOT);
const LICENSES = ["LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"];

/**
 * Writes the files of the reference page to `docs/` in the assets folder, `dist/assets/`, and the fonts to `fonts/`, from which the service
 * Worker serves them. Skips files that are up to date and replaces others atomically, so that it can run beside a service.
 */
export async function buildAssets(folder = new URL("dist/assets/", ROOT)): Promise<void> {
  await placeFonts(fileURLToPath(folder));
  const target = new URL("docs/", folder);
  const names: string[] = [...PAGE_FILES, ...LICENSES];
  await mkdir(target, { recursive: true });
  for (const name of await readdir(target)) {
    if (!names.includes(name)) await rm(new URL(name, target), { recursive: true, force: true });
  }
  for (const name of names) {
    const origin = name === "start.js" ? new URL(name, import.meta.url) : new URL(name, SWAGGER);
    await place(await readFile(origin), new URL(name, target), folder);
  }
}

async function place(bytes: Buffer, target: URL, folder: URL): Promise<void> {
  const current = await readFile(target).catch(() => null);
  if (current?.equals(bytes)) return;
  const temporary = new URL(`../making-${randomUUID()}`, folder);
  await writeFile(temporary, bytes);
  await rename(temporary, target);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAssets();
