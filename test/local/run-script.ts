import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** The folder that holds package.json. */
export const ROOT = join(import.meta.dirname, "..", "..");

/** A running script of worker/local. */
export interface RunningScript {
  child: ChildProcess;
  pid: number;
  /** Everything printed so far to stdout and stderr. */
  output(): string;
  /** Resolves with the first match in the output; rejects if the script ends before. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code, or the signal that ended it. */
  ended: Promise<number | string | null>;
}

/** Runs a command, by default in the package's folder; it is killed when the test ends. */
export function runCommand(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = ROOT,
): RunningScript {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env } });
  let output = "";
  const take = (chunk: Buffer) => {
    output += chunk.toString();
    child.emit("printed");
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const ended = once(child, "close").then(([code, signal]) => code ?? signal);
  onTestFinished(async () => {
    for (const pid of running(family(child.pid ?? 0))) process.kill(pid, "SIGKILL");
    await ended;
  });
  return {
    child,
    pid: child.pid ?? 0,
    output: () => output,
    ended,
    line(pattern) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(output);
          if (match) resolve(match);
        };
        child.on("printed", look);
        child.once("close", () => reject(new Error(`ended without ${pattern}:\n${output}`)));
        look();
      });
    },
  };
}

/** Runs a script of worker/local by its name. */
export function runScript(
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
): RunningScript {
  return runCommand(process.execPath, [join(ROOT, "worker", "local", `${name}.ts`), ...args], env);
}

/** Lists a process and all its descendants. */
export function family(root: number): number[] {
  const parents = new Map<number, number>();
  for (const pid of readdirSync("/proc").map(Number).filter(Boolean)) {
    const stat = read(`/proc/${pid}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    if (stat) parents.set(pid, parent);
  }
  const members = [root];
  for (const member of members) {
    for (const [pid, parent] of parents) if (parent === member) members.push(pid);
  }
  return members;
}

/** Lists the processes that still run; zombies do not count. */
export function running(pids: readonly number[]): number[] {
  return pids.filter((pid) => /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`)));
}

/** Returns the arguments and the environment of a process, as other processes can see them. */
export function visibleFacts(pid: number): string {
  return read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
