import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Lists the processes of a program that descend from this one. */
export function descendants(program: string): number[] {
  const stats = readdirSync("/proc")
    .map(Number)
    .flatMap((pid) => (pid > 0 ? (readStat(pid) ?? []) : []));
  const family = new Set([process.pid]);
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const { pid, parent } of stats) if (family.has(parent)) family.add(pid);
  }
  return stats.filter(({ pid, name }) => family.has(pid) && name === program).map(({ pid }) => pid);
}

/** Returns the seconds of processor time that the processes have used together (proc(5)). */
export function processorSeconds(pids: readonly number[]): number {
  const ticks = pids.reduce((sum, pid) => sum + (readStat(pid)?.ticks ?? 0), 0);
  return ticks / ticksPerSecond();
}

/** Returns the processor time, in seconds, of this process and of its children that have ended (proc(5)). */
export function ownSeconds(): number {
  const { ticks = 0, ended = 0 } = readStat(process.pid) ?? {};
  return (ticks + ended) / ticksPerSecond();
}

let ticks: number | undefined;

function ticksPerSecond(): number {
  ticks ??= Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  return ticks;
}

function readStat(pid: number) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, in brackets, may hold spaces and brackets of its own.
    const [open, close] = [text.indexOf("("), text.lastIndexOf(")")];
    const fields = text
      .slice(close + 2)
      .split(" ")
      .map(Number);
    const [, parent = 0] = fields;
    const name = text.slice(open + 1, close);
    const [own, ended] = [11, 13].map((at) => (fields[at] ?? 0) + (fields[at + 1] ?? 0));
    return { pid, name, parent, ticks: own ?? 0, ended: ended ?? 0 };
  } catch {
    return null;
  }
}
