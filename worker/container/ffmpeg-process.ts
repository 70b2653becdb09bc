import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import type { MediaError } from "../../src/media/errors.ts";
import type { RunEnd } from "../../src/media/ffmpeg/run-log.ts";
import * as errors from "./errors.ts";
import { type Installed, type Limits, prlimitArgs } from "./installed.ts";

/** Options of {@link runProgram}. */
export interface ProgramRun {
  args: readonly string[];
  /** Working directory, to which output paths are relative. */
  cwd: string;
  installed: Installed;
  limits: Limits;
  /** Path of its fontconfig file; absent for the system's. */
  fonts?: string | undefined;
  /** Kills it at once. */
  signal: AbortSignal;
  /** Receives every line of its standard output, where ffmpeg writes its progress as `name=value`. */
  onProgress(line: string): void;
  /** Receives the handle that signals its processes. */
  onStart(child: RunningFfmpeg): void;
  /** Receives the bytes that it writes to {@link PIPE}, valid during the call only; absent when it writes none. */
  onBytes?: ((bytes: Uint8Array) => void) | undefined;
}

interface RunningFfmpeg {
  pid: number;
  /** Signals its process group; does nothing after its exit. */
  kill(signal: NodeJS.Signals): void;
}

/** The output that is streamed to `onBytes`. */
export const PIPE = "pipe:3";

const LOG = { first: 20, last: 200, line: 500 } as const;
const QUIET = ["-hide_banner", "-nostdin", "-loglevel", "warning", "-y"];
const REPORT = ["-stats", "-stats_period", "1", "-progress", "pipe:1"];

/** Runs ffmpeg with progress reports; see {@link runProgram}. */
export function runFfmpeg(run: ProgramRun): Promise<RunEnd> {
  return runProgram("ffmpeg", { ...run, args: [...QUIET, ...REPORT, ...run.args] });
}

/** Runs a program in its own process group, under limits and with a minimal environment; resolves on any exit. */
export async function runProgram(name: string, run: ProgramRun): Promise<RunEnd> {
  const { onBytes } = run;
  const pipe = onBytes ? await openPipe(run, onBytes) : null;
  const [program = name, ...args] = [...wrap(run), name, ...run.args];
  const { PATH = "/usr/local/bin:/usr/bin:/bin" } = process.env;
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd: run.cwd,
      // The environment holds tokens and proxies that are not for ffmpeg.
      env: { PATH, HOME: run.cwd, TMPDIR: run.cwd, LANG: "C", FONTCONFIG_FILE: run.fonts },
      stdio: ["ignore", "pipe", "pipe", pipe?.end ?? (onBytes ? "pipe" : "ignore")],
      detached: true,
    });
  } finally {
    if (pipe) closeSync(pipe.end);
  }
  const { promise, resolve } = Promise.withResolvers<RunEnd>();
  const log: string[] = [];
  const { pid } = child;
  const kill = (signal: NodeJS.Signals) => {
    try {
      if (pid && child.exitCode === null && child.signalCode === null) process.kill(-pid, signal);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "ESRCH") throw thrown;
    }
  };
  const stop = () => kill("SIGKILL");
  run.signal.addEventListener("abort", stop);
  child.once("error", (error) => log.push(error.message));
  child.once("close", async (code, signal) => {
    run.signal.removeEventListener("abort", stop);
    const fault = await pipe?.closed;
    if (fault) log.push(fault.message);
    resolve({ code, signal, log });
  });
  const [, stdout, stderr, piped] = child.stdio as Readable[];
  if (onBytes && !pipe) piped?.on("data", onBytes);
  if (stdout) createInterface({ input: stdout }).on("line", run.onProgress);
  if (stderr) createInterface({ input: stderr }).on("line", (line) => appendLog(log, line));
  if (pid) run.onStart({ pid, kill });
  if (run.signal.aborted) stop();
  return promise;
}

const PIPE_BYTES = 65_536;
const MKFIFO_MS = 5000;

// Node's own pipes allocate memory for each read and take four times as long.
async function openPipe({ cwd, signal }: ProgramRun, onBytes: (bytes: Uint8Array) => void) {
  const path = join(cwd, `pipe-${randomUUID()}`);
  try {
    await promisify(execFile)("mkfifo", [path], { timeout: MKFIFO_MS, signal });
  } catch {
    return null;
  }
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  let end: number;
  try {
    end = openSync(path, "w");
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  } finally {
    await rm(path, { force: true });
  }
  const buffer = new Uint8Array(PIPE_BYTES);
  const callback = (length: number) => {
    onBytes(buffer.subarray(0, length));
    return true;
  };
  const socket = new Socket({ fd, readable: true, writable: false, onread: { buffer, callback } });
  const closed = once(socket, "close").then(
    () => null,
    (error: Error) => error,
  );
  return { end, closed };
}

// Each program replaces itself by the next with exec, so the process id stays the same.
function wrap({ installed, limits }: ProgramRun): string[] {
  return [...installed.setpriv, ...(installed.prlimit ? prlimitArgs(limits) : [])];
}

function appendLog(log: string[], text: string): void {
  const line = text.trim().slice(0, LOG.line);
  if (line === "") return;
  const isStatus = /^(frame|size)=/.test(line);
  if (isStatus && /^(frame|size)=/.test(log.at(-1) ?? "")) log.pop();
  log.push(line);
  if (log.length > LOG.first + LOG.last) log.splice(LOG.first, 1);
}

/** A running ffmpeg, and how its progress and memory are judged. */
export interface Watched {
  ffmpeg: RunningFfmpeg;
  /** Grows while there is progress. */
  progress(): number;
  /** Returns whether the process waits for something with a time limit of its own. */
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

/** Seconds between the SIGTERM and the SIGKILL of a stalled ffmpeg. */
export const KILL_AFTER_SECONDS = 5;
// A slow codec may compute for many stall times without output.
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

function cpuTicks(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}

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
