import { readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { MediaError } from "../../src/media/errors.ts";
import { errors } from "./errors.ts";
import type { RunningFfmpeg } from "./run-ffmpeg.ts";

/** A running ffmpeg, and how its progress and memory are judged. */
export interface Watched {
  ffmpeg: RunningFfmpeg;
  /** Grows while there is progress. */
  progress(): number;
  /** True while it waits for something with a time limit of its own. */
  isWaiting(): boolean;
  /** Returns whether the machine has this many bytes of memory for it. */
  fits(bytes: number): boolean;
  /** Folder of the output: files that grow or change are progress too. */
  folder: string;
  stall_seconds: number;
}

/** A watchdog of one running ffmpeg. */
export interface Watchdog {
  /** The reason for which it ended ffmpeg; null when it did not. */
  fault(): MediaError | null;
  stop(): void;
}

/** Seconds that an ffmpeg that was asked to end has until it is killed. */
export const KILL_AFTER_SECONDS = 5;
// A slow codec may compute for long without output. After this many stall times it counts as an endless loop.
const BUSY_PATIENCE = 10;

/**
 * Watches a running ffmpeg. Terminates it when it stalls, and kills it at once when it takes more memory than the machine has beside its
 * other jobs.
 */
export function watch({ ffmpeg, progress, isWaiting, fits, folder, stall_seconds }: Watched): Watchdog {
  let fault: MediaError | null = null;
  let killTimer: NodeJS.Timeout | undefined;
  let last = { at: Date.now(), done: progress(), busy: Date.now(), cpu: cpuTicks(ffmpeg.pid), writtenAt: 0 };

  const check = async () => {
    if (fault) return;
    if (!fits(residentBytes(ffmpeg.pid))) {
      fault = errors.memoryExceeded();
      ffmpeg.kill("SIGKILL");
      return;
    }
    const now = Date.now();
    const done = progress();
    const cpu = cpuTicks(ffmpeg.pid);
    if (done > last.done || isWaiting()) last = { ...last, at: now, busy: now, done, cpu };
    if (cpu > last.cpu) last = { ...last, busy: now, cpu };
    const silent = now - Math.max(last.at, last.busy) >= stall_seconds * 1000;
    const endless = now - last.at >= stall_seconds * 1000 * BUSY_PATIENCE;
    if (!(silent || endless)) return;
    // While ffmpeg moves the index of a large file to its front, it reports no progress but writes.
    const writtenAt = await lastWrite(folder);
    if (writtenAt > last.writtenAt && now - writtenAt < stall_seconds * 1000) {
      last = { ...last, at: now, busy: now, writtenAt };
      return;
    }
    if (stopped || fault) return;
    fault = errors.stalled({ seconds: stall_seconds });
    ffmpeg.kill("SIGTERM");
    killTimer = setTimeout(() => ffmpeg.kill("SIGKILL"), KILL_AFTER_SECONDS * 1000);
  };

  let stopped = false;
  const timer = setInterval(() => void check(), Math.min(1000, stall_seconds * 200));
  return {
    fault: () => fault,
    stop() {
      stopped = true;
      clearInterval(timer);
      clearTimeout(killTimer);
    },
  };
}

// Clock ticks of processor time, from /proc/PID/stat; 0 when there is no such process.
function cpuTicks(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}

// Resident memory of a process; 0 when there is no such process.
function residentBytes(pid: number): number {
  try {
    const [, kib = 0] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kib) * 1024;
  } catch {
    return 0;
  }
}

async function lastWrite(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const times = await Promise.all(
    files.map((entry) =>
      stat(join(entry.parentPath, entry.name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(0, ...times);
}
