import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { COMPILED } from "../worker/local/programs.ts";

// npm test: runs the Chromium flows and then Vitest. Beside each other they would keep a machine of two cores so busy that what waits for a page runs out of time.
// Arguments go to Vitest, and `--shard` to both; with file names, the flows are skipped.
const require = createRequire(import.meta.url);
const args = process.argv.slice(2);
const shard = args.filter((arg) => arg.startsWith("--shard="));
let running: ChildProcess | undefined;
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    interrupted = true;
    running?.kill(signal);
  });
}
const flows = args.some((arg) => !arg.startsWith("-"))
  ? true
  : await run("@playwright/test", "cli.js", ["test", "--config", "test/e2e/playwright.config.ts", ...shard]);
const others = !interrupted && (await run("vitest", "vitest.mjs", ["run", ...args]));
process.exitCode = flows && others ? 0 : 1;

async function run(name: string, file: string, args: string[]): Promise<boolean> {
  const script = join(dirname(require.resolve(`${name}/package.json`)), file);
  running = spawn(process.execPath, [script, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    // Cached, as hundreds of processes load the same packages.
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
  const [code] = await once(running, "close");
  return code === 0;
}
