import { execFile } from "node:child_process";
import { isAbsolute } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../worker/local/system.ts";
import { usageError } from "./options.ts";

const execute = promisify(execFile);

/**
 * Runs a program, by its name or absolute path, to its end, with the given variables or else those of this process. Returns its output and the seconds it
 * took; rejects when it is missing or fails.
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ stdout: string; stderr: string; seconds: number }> {
  const path = isAbsolute(program) ? program : findProgram(program, process.env);
  if (!path)
    usageError(`${program} is missing on this machine: install it to have something to compare with.`);
  const started = performance.now();
  const { stdout, stderr } = await execute(path, [...args], { maxBuffer: 1 << 26, env });
  return { stdout, stderr, seconds: (performance.now() - started) / 1000 };
}
