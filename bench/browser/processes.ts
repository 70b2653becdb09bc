import { readdirSync, readFileSync } from "node:fs";

/** Returns the ids of a browser's processes by its profile: the one started with it, and all its descendants. */
export function browserProcesses(profile: string): number[] {
  const parents = new Map<number, number>();
  const roots: number[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const read = (file: string) => readProcess(pid, file);
    parents.set(pid, Number(/\) \S (\d+)/.exec(read("stat"))?.[1] ?? 0));
    if (read("cmdline").split("\0").includes(`--user-data-dir=${profile}`)) roots.push(pid);
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent > 1 && (roots.includes(parent) || isBelow(parent));
  };
  return [...parents.keys()].filter((pid) => roots.includes(pid) || isBelow(pid));
}

/** Returns a process's own memory in MB, which no file backs (RssAnon and RssShmem of proc(5)); 0 when it has exited. */
export function ownMemoryMb(pid: number): number {
  const status = readProcess(pid, "status");
  const fields = [...status.matchAll(/^(?:RssAnon|RssShmem):\s+(\d+) kB/gm)];
  return (fields.reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) * 1024) / 1e6;
}

/** Returns the seconds of processor time of a process, including children that have exited. */
export function processorSeconds(pid: number): number {
  // The first two fields may contain spaces, and end with a parenthesis (proc(5)).
  const fields = readProcess(pid, "stat")
    .replace(/^.*\) /, "")
    .split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}

// USER_HZ, the same on all Linux systems.
const TICKS = 100;

/** Returns the role of a browser's process: `browser`, `renderer`, `gpu-process` and so on. */
export function roleOf(pid: number): string {
  return /--type=([\w-]+)/.exec(readProcess(pid, "cmdline"))?.[1] ?? "browser";
}

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // The process has exited.
    return "";
  }
}
