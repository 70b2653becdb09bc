import { readFileSync, writeFileSync } from "node:fs";

const KIB = 1024;
const MB = 1_000_000;

export function workerds(pids: readonly number[]): number[] {
  return pids.filter((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "workerd");
}

/** Returns the processes' current resident memory together, in MB (VmRSS of proc(5)). */
export function residentMb(pids: readonly number[]): number {
  return sumOf(pids, "VmRSS");
}

/** Returns the sum of the processes' peaks of resident memory since the last reset, in MB (VmHWM of proc(5)). */
export function peakMb(pids: readonly number[]): number {
  return sumOf(pids, "VmHWM");
}

/** Resets the peaks to the current resident memory (5 into clear_refs, proc(5)). */
export function forgetPeaks(pids: readonly number[]): void {
  for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

function sumOf(pids: readonly number[], field: string): number {
  const kilobytes = pids.map((pid) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]);
  });
  return (kilobytes.reduce((sum, each) => sum + each, 0) * KIB) / MB;
}
