import { readFileSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { MediaError } from "../../src/core/errors.ts";
import { errors } from "./errors.ts";
import type { RunningFfmpeg } from "./run-ffmpeg.ts";

/** What a watchdog watches. */
export interface Watched {
  ffmpeg: RunningFfmpeg;
  /** Grows while there is progress. */
  progress(): number;
  /** True while it waits for something that has a time limit of its own. */
  waits(): boolean;
  /** Returns whether the machine has so many bytes of memory for it. */
  fits(bytes: number): boolean;
  /** Folder of the output: files that grow or change are progress too. */
  folder: string;
  stall_seconds: number;
}

/** A watchdog at work. */
export interface Watchdog {
  /** The fault when it ended ffmpeg; else null. */
  fault(): MediaError | null;
  stop(): void;
}

/** Seconds that an ffmpeg that was asked to end has until it is killed. */
export const KILL_AFTER_SECONDS = 5;
// A slow codec may compute for long without a word; one that does so for this many times as long turns in circles.
const BUSY_PATIENCE = 10;

/**
 * Watches a running ffmpeg. Ends it, gently and then not, when it has been silent for too long, and at once when it takes more
 * memory than the machine has beside its other jobs.
 */
export function watch({ ffmpeg, progress, waits, fits, folder, stall_seconds }: Watched): Watchdog {
  let fault: MediaError | null = null;
  let killer: NodeJS.Timeout | undefined;
  let last = { at: Date.now(), moved: progress(), busy: Date.now(), cpu: cpuTicks(ffmpeg.pid), wrote: 0 };

  const look = async () => {
    if (fault) return;
    if (!fits(residentBytes(ffmpeg.pid))) {
      fault = errors.memoryExceeded();
      ffmpeg.kill("SIGKILL");
      return;
    }
    const now = Date.now();
    const moved = progress();
    const cpu = cpuTicks(ffmpeg.pid);
    if (moved > last.moved || waits()) last = { ...last, at: now, busy: now, moved, cpu };
    if (cpu > last.cpu) last = { ...last, busy: now, cpu };
    const silent = now - Math.max(last.at, last.busy) >= stall_seconds * 1000;
    const endless = now - last.at >= stall_seconds * 1000 * BUSY_PATIENCE;
    if (!(silent || endless)) return;
    // Moving the index to the front of a large file makes no progress but writes.
    const wrote = await lastWrite(folder);
    if (wrote > last.wrote && now - wrote < stall_seconds * 1000) {
      last = { ...last, at: now, busy: now, wrote };
      return;
    }
    if (stopped || fault) return;
    fault = errors.stalled({ seconds: stall_seconds });
    ffmpeg.kill("SIGTERM");
    killer = setTimeout(() => ffmpeg.kill("SIGKILL"), KILL_AFTER_SECONDS * 1000);
  };

  let stopped = false;
  const timer = setInterval(() => void look(), Math.min(1000, stall_seconds * 200));
  return {
    fault: () => fault,
    stop() {
      stopped = true;
      clearInterval(timer);
      clearTimeout(killer);
    },
  };
}

// Time that a process has computed, of /proc/PID/stat; 0 where there is none.
function cpuTicks(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}

// Memory that a process holds; 0 where there is none.
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
