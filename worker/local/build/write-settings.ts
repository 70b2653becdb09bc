import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeSettings } from "../../settings/document.ts";
import { runMain } from "../cli.ts";
import { ROOT } from "../settings.ts";

// npm run docs:settings: generates the tables of docs/settings.md from the schema.
if (import.meta.main)
  runMain(async () => {
    const path = join(ROOT, "docs", "settings.md");
    await writeFile(path, writeSettings(await readFile(path, "utf8")));
  });
