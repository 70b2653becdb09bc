import { copyFile, mkdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { PAGE_FILES } from "./page.ts";

const ROOT = new URL("../../", import.meta.url);
const SWAGGER = new URL("node_modules/swagger-ui-dist/", ROOT);
const LICENSES = ["LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"];

/** Writes the files of the reference page to `docs/` in the assets folder, `dist/assets/`, which the service Worker serves them from. */
export async function buildAssets(folder = new URL("dist/assets/", ROOT)): Promise<void> {
  const target = new URL("docs/", folder);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  for (const name of [...PAGE_FILES, ...LICENSES]) {
    const origin = name === "start.js" ? new URL(name, import.meta.url) : new URL(name, SWAGGER);
    await copyFile(origin, new URL(name, target));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildAssets();
