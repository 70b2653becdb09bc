import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { COMPILE_CACHE } from "../worker/local/programs.ts";
import { ROOT } from "../worker/local/settings.ts";

/** A command of Vitest or Playwright, with its arguments. */
type Command = readonly ["vitest" | "playwright", ...string[]];

/**
 * The commands of npm test (smoke), of the other tests (rest), and of both (all). The flows run alone: with Vitest's browsers beside
 * them, pages on two cores would run out of time.
 */
const PARTS: Record<string, () => Command[]> = {
  smoke: () => [
    ["vitest", "--project=fast"],
    ["playwright", "--grep=@smoke"],
    ["vitest", "--tags-filter=smoke", ...smokeFiles()],
  ],
  rest: () => [
    ["playwright", "--grep-invert=@smoke"],
    ["vitest", "--project=!fast", "--tags-filter=!smoke"],
  ],
  all: () => [["playwright"], ["vitest"]],
};

const [part = "", ...args] = process.argv.slice(2);
// File names run alone.
const commands = args.some((arg) => !arg.startsWith("-")) ? [["vitest"] as const] : PARTS[part]?.();
if (!commands)
  throw new Error(`usage: node test/run.ts ${Object.keys(PARTS).join("|")} [arguments of Vitest]`);

let running: ChildProcess | undefined;
let interrupted = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    interrupted = true;
    running?.kill(signal);
  });
}
let passed = true;
for (const [runner, ...own] of commands) {
  if (interrupted) break;
  const ran =
    runner === "vitest"
      ? await run("vitest", "vitest.mjs", ["run", ...own, ...args])
      : await run("@playwright/test", "cli.js", ["test", "--config=test/e2e/playwright.config.ts", ...own]);
  passed &&= ran;
}
process.exitCode = passed && !interrupted ? 0 : 1;

// Vitest loads every file to find its tags, so it gets only those that have one.
function smokeFiles(): string[] {
  return globSync("test/**/*.{ffmpeg,service,browser}.test.ts", { cwd: ROOT }).filter((path) =>
    readFileSync(join(ROOT, path), "utf8").includes('"smoke"'),
  );
}

async function run(name: string, file: string, args: string[]): Promise<boolean> {
  const script = join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);
  running = spawn(process.execPath, [script, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
    // Cached, as hundreds of processes load the same packages.
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  const [code] = await once(running, "close");
  return code === 0;
}
