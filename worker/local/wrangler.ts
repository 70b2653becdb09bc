import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import * as errors from "./errors.ts";
import { ROOT } from "./settings.ts";

const QUIET = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  NO_COLOR: "1",
} as const;

/**
 * Runs a wrangler command in the package's folder and returns its output; a failure rejects with a {@link MediaError} that quotes
 * it.
 */
export async function runWrangler(args: readonly string[]): Promise<string> {
  const program = join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");
  const options = { cwd: ROOT, env: { ...process.env, ...QUIET }, maxBuffer: 1 << 26 };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], options);
    return stdout;
  } catch (thrown) {
    const reason = reasonOf(thrown as Error & { stdout?: string; stderr?: string });
    throw errors.wranglerFailed({ command: args[0] ?? "", reason, cause: thrown });
  }
}

function reasonOf({
  message,
  stdout = "",
  stderr = "",
}: Error & { stdout?: string; stderr?: string }): string {
  const output = stripVTControlCharacters([stderr, stdout].join("\n")).trim();
  const errors = [...output.matchAll(/\[ERROR\]\s*(.+)/g)].map(([, line]) => line);
  return errors.join(" ") || output || message;
}
