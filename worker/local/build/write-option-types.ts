import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { writeOptionTypes } from "../../docs/option-types.ts";
import { runMain } from "../cli.ts";
import { ROOT } from "../settings.ts";

// npm run docs:options: generates the types of options, as editors show them, from the schemas.
runMain(async () => {
  const path = join(ROOT, "src", "core", "option-types.ts");
  await writeFile(path, writeOptionTypes());
  await promisify(execFile)(join(ROOT, "node_modules", ".bin", "biome"), ["check", "--write", path], {
    cwd: ROOT,
  });
});
