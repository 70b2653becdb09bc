import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import type { RunEnd } from "../../src/ffmpeg/read-failure.ts";
import { type Installed, type Limits, prlimitArgs } from "./installed.ts";

/** Options of {@link runProgram}. */
export interface ProgramRun {
  args: readonly string[];
  /** Its folder; paths of its output are below it. */
  cwd: string;
  installed: Installed;
  limits: Limits;
  /** Path of the file that names the fonts it finds; absent for those of the system. */
  fonts?: string | undefined;
  /** Kills it at once. */
  signal: AbortSignal;
  /** Called with every line of its output; of ffmpeg, those of progress, `name=value`. */
  onProgress(line: string): void;
  /** Is given the means to signal its processes. */
  onStart(child: RunningFfmpeg): void;
  /** Is called with the bytes that it writes to {@link PIPE}, which it must not keep; absent where it writes none there. */
  onBytes?: ((bytes: Uint8Array) => void) | undefined;
}

/** A running ffmpeg. */
export interface RunningFfmpeg {
  pid: number;
  /** Signals its process group; does nothing once it is gone. */
  kill(signal: NodeJS.Signals): void;
}

/** The output that is read while it is written. */
export const PIPE = "pipe:3";

const LOG = { first: 20, last: 200, line: 500 } as const;
const QUIET = ["-hide_banner", "-nostdin", "-loglevel", "warning", "-y"];
const TELL = ["-stats", "-stats_period", "1", "-progress", "pipe:1"];

/** Runs ffmpeg as {@link runProgram} does. */
export function runFfmpeg(run: ProgramRun): Promise<RunEnd> {
  return runProgram("ffmpeg", { ...run, args: [...QUIET, ...TELL, ...run.args] });
}

/**
 * Runs a program in a separate process group, under limits and with a minimal environment; resolves once it has ended in any way.
 */
export async function runProgram(name: string, run: ProgramRun): Promise<RunEnd> {
  const { onBytes } = run;
  const pipe = onBytes ? await openPipe(run, onBytes) : null;
  const [program = name, ...args] = [...wrap(run), name, ...run.args];
  const { PATH = "/usr/local/bin:/usr/bin:/bin" } = process.env;
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd: run.cwd,
      // Nothing of ours: a proxy of the environment or a token is none of ffmpeg's business.
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
  const [, told, logged, written] = child.stdio as Readable[];
  if (onBytes && !pipe) written?.on("data", onBytes);
  if (told) createInterface({ input: told }).on("line", run.onProgress);
  if (logged) createInterface({ input: logged }).on("line", (line) => keep(log, line));
  if (pid) run.onStart({ pid, kill });
  if (run.signal.aborted) stop();
  return promise;
}

const PIPE_BYTES = 65_536;
const MKFIFO_MS = 5000;

// Node allocates memory for each read of its own pipes, which takes four times as long as reading a pipe of the system's into a buffer. Null where
// there are none: then Node's own will do.
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

// Each of these becomes the next by exec, so that the process stays the same one.
function wrap({ installed, limits }: ProgramRun): string[] {
  return [...installed.setpriv, ...(installed.prlimit ? prlimitArgs(limits) : [])];
}

// A status line replaces the one before it, and of a long log the middle goes.
function keep(log: string[], text: string): void {
  const line = text.trim().slice(0, LOG.line);
  if (line === "") return;
  const isStatus = /^(frame|size)=/.test(line);
  if (isStatus && /^(frame|size)=/.test(log.at(-1) ?? "")) log.pop();
  log.push(line);
  if (log.length > LOG.first + LOG.last) log.splice(LOG.first, 1);
}
