import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { COMPILED } from "../worker/local/spawn.ts";

// npm test: runs Vitest, and beside it the Chromium flows, which finish long before the timed tests begin.
// Arguments go to Vitest; with file names, the flows are skipped.
const require = createRequire(import.meta.url);
const args = process.argv.slice(2);
const vitest = start("vitest", "vitest.mjs", ["run", ...args], "inherit");
const flows = args.some((arg) => !arg.startsWith("-"))
  ? null
  : start("@playwright/test", "cli.js", ["test", "--config", "test/e2e/playwright.config.ts"], "pipe");
const printed: Buffer[] = [];
for (const stream of [flows?.stdout, flows?.stderr]) stream?.on("data", (bytes) => printed.push(bytes));
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    vitest.kill(signal);
    flows?.kill(signal);
  });
}
const codes = await Promise.all([vitest, flows].map((child) => child && once(child, "close")));
process.stdout.write(Buffer.concat(printed));
process.exitCode = codes.every((end) => end === null || end[0] === 0) ? 0 : 1;

function start(name: string, file: string, args: string[], output: "inherit" | "pipe") {
  const script = join(dirname(require.resolve(`${name}/package.json`)), file);
  return spawn(process.execPath, [script, ...args], {
    stdio: ["ignore", output, output],
    // Cached, as hundreds of processes load the same packages.
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED },
  });
}
