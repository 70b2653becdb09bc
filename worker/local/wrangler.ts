import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { MediaError } from "../../src/core/errors.ts";
import { ROOT } from "./settings.ts";

const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  NO_COLOR: "1",
} as const;

/** Runs a wrangler command in the package's folder and gives what it prints; throws a {@link MediaError} with its words when it fails. */
export function runWrangler(args: readonly string[]): string {
  const program = join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");
  const ran = spawnSync(process.execPath, [program, ...args], {
    cwd: ROOT,
    env: { ...process.env, ...QUIET },
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (ran.status === 0) return ran.stdout;
  const words = [ran.stderr, ran.stdout].join("\n").trim() || String(ran.error ?? ran.signal);
  throw new MediaError("service_unavailable", `wrangler ${args[0]} failed: ${words}`);
}
