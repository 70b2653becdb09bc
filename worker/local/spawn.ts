import { type ChildProcess, fork } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./settings.ts";
import type { State } from "./state.ts";

/** The folder for `NODE_COMPILE_CACHE`, where Node caches compiled code: our processes start in two thirds of the time. */
export const COMPILED = join(ROOT, "node_modules", ".cache", "node");

/**
 * Starts one of our scripts as the leader of a new process group, with its output in the named log and an IPC channel; the
 * script exits when the channel closes. Of the user's environment it inherits only what programs need, so that no setting leaks
 * in.
 */
export function spawnScript(path: string, log: string, state: State, env: NodeJS.ProcessEnv): ChildProcess {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  const file = openSync(state.log(log), "a", 0o600);
  const child = fork(path, [], {
    detached: true,
    stdio: ["ignore", file, file, "ipc"],
    execArgv: [],
    env: { PATH, HOME, TMPDIR, LANG, NODE_COMPILE_CACHE: COMPILED, ...env },
  });
  closeSync(file);
  return child;
}
