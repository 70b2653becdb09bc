import { type ChildProcess, fork } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./settings.ts";
import type { State } from "./state.ts";

/** The folder in which Node keeps what it compiled, so that a process of ours starts in two thirds of the time; it takes it as `NODE_COMPILE_CACHE`. */
export const COMPILED = join(ROOT, "node_modules", ".cache", "node");

/**
 * Starts a script of ours in a process and process group of its own, its output in the log of that name, with an IPC channel whose end tells it
 * to end. It gets nothing of the user's environment but what programs need, so that no setting leaks in, and what is given here.
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
