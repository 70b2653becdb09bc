import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes of the browser that has a profile: the one that was started with it, and all below that. */
export function browserProcesses(profile: string): number[] {
  const parents = new Map<number, number>();
  const found: number[] = [];
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const read = (file: string) => readProcess(pid, file);
    parents.set(pid, Number(/\) \S (\d+)/.exec(read("stat"))?.[1] ?? 0));
    if (read("cmdline").split("\0").includes(`--user-data-dir=${profile}`)) found.push(pid);
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent > 1 && (found.includes(parent) || isBelow(parent));
  };
  return [...parents.keys()].filter((pid) => found.includes(pid) || isBelow(pid));
}

/** Memory that a process has for itself, in MB: what no file backs (RssAnon and RssShmem of proc(5)); of one that has gone, nothing. */
export function ownMemoryMb(pid: number): number {
  const status = readProcess(pid, "status");
  const fields = [...status.matchAll(/^(?:RssAnon|RssShmem):\s+(\d+) kB/gm)];
  return (fields.reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) * 1024) / 1e6;
}

/** Seconds of processor time that a process has had, children that have ended included. */
export function processorSeconds(pid: number): number {
  // The first two fields may hold spaces, and end with a bracket (proc(5)).
  const fields = readProcess(pid, "stat")
    .replace(/^.*\) /, "")
    .split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS;
}

// USER_HZ, which is the same wherever Linux runs.
const TICKS = 100;

/** What a process of the browser does: `browser`, `renderer`, `gpu-process` and so on. */
export function roleOf(pid: number): string {
  return /--type=([\w-]+)/.exec(readProcess(pid, "cmdline"))?.[1] ?? "browser";
}

function readProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    // It has ended meanwhile.
    return "";
  }
}
