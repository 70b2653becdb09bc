import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Identifies one process for good; the system may reuse a pid. */
export interface ProcessName {
  pid: number;
  /** Start time in clock ticks since boot, of /proc/PID/stat (proc(5)); 0 where there is no /proc. */
  started: number;
}

/** Returns the name of a running process, or null when there is none. */
export function nameProcess(pid: number): ProcessName | null {
  const stat = readStat(pid);
  if (stat) return stat.state === "Z" ? null : { pid, started: stat.started };
  return canSignal(pid) && !hasProc() ? { pid, started: 0 } : null;
}

/** Returns whether the named process still runs. */
export function isRunning(name: ProcessName): boolean {
  return nameProcess(name.pid)?.started === name.started;
}

/** Lists the running processes of a group; only its leader where there is no /proc. */
export function groupMembers(group: number): number[] {
  if (!hasProc()) return canSignal(-group) ? [group] : [];
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      const stat = pid > 0 ? readStat(pid) : null;
      return stat?.group === group && stat.state !== "Z";
    });
}

/** Signals every process of a group; ignores a group that no longer exists. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
  }
}

/** Kills the remaining processes of a group and waits until they are gone. */
export async function endGroup(group: number): Promise<void> {
  for (let tries = 0; groupMembers(group).length > 0 && tries < 500; tries++) {
    signalGroup(group, "SIGKILL");
    await sleep(10);
  }
}

function readStat(pid: number): { state: string; group: number; started: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the name in brackets, may hold spaces and brackets of its own.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", group: Number(fields[2]), started: Number(fields[19]) };
  } catch {
    return null;
  }
}

function hasProc(): boolean {
  return process.platform === "linux";
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
