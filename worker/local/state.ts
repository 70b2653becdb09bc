import { randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as errors from "./errors.ts";

/** The processes that use a state folder: the supervisor, and the leaders of its process groups. */
interface Claim {
  supervisor: ProcessName;
  hosts: ProcessName[];
  /** The service's base URL, once it is ready. */
  url?: string;
}

/** The folder of everything that one local service stores. */
export interface State {
  dir: string;
  /** Folder for temporary files of the service. */
  scratch: string;
  /** Returns the API key of a service whose settings name none; created once. */
  apiKey(): string;
  /** The key that `npm run keys` manages keys with; created once. */
  operator_key: string;
  /** The key that signs media URLs; created once, so that they stay valid after a restart. */
  signing_key: string;
  /** The key that encrypts the secrets of connections; created once. */
  connection_key: string;
  /** Returns the path of a log file; rotates a large one. */
  log(name: string): string;
  /** Records a process group, which the next service ends if this process dies. */
  note(leader: number): void;
  /** Records the URL of the service for {@link findService}. */
  announce(url: string): void;
  /** Releases the folder for another service. */
  release(): void;
}

const LOG_BYTES = 10_000_000;
const LOCK = "service.json";

/**
 * Opens a state folder for one service, and ends the processes that a killed service left running there. Rejects with a
 * {@link MediaError} when the folder cannot be written or is in use.
 */
export async function openState(dir: string): Promise<State> {
  const logs = join(dir, "logs");
  const scratch = join(dir, "scratch");
  const lock = join(dir, LOCK);
  attempt(dir, () => {
    for (const folder of [dir, logs]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  });
  const self = nameProcess(process.pid) ?? { pid: process.pid, started: 0 };
  const claim: Claim = { supervisor: self, hosts: [] };
  await takeLock(dir, lock, claim);
  attempt(dir, () => rmSync(scratch, { recursive: true, force: true }));
  return {
    dir,
    scratch,
    operator_key: attempt(dir, () => readSecret(join(dir, "operator-key"))),
    apiKey: () => attempt(dir, () => readSecret(join(dir, "api-key"))),
    signing_key: attempt(dir, () => readSecret(join(dir, "media-signing-key"))),
    connection_key: attempt(dir, () => readSecret(join(dir, "connection-key"))),
    log(name) {
      const path = join(logs, `${name}.log`);
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES) renameSync(path, `${path}.old`);
      return path;
    },
    note(leader) {
      const name = nameProcess(leader);
      claim.hosts = [
        ...claim.hosts.filter(({ pid }) => groupMembers(pid).length > 0),
        ...(name ? [name] : []),
      ];
      write(lock, JSON.stringify(claim));
    },
    announce(url) {
      claim.url = url;
      write(lock, JSON.stringify(claim));
    },
    release: () => rmSync(lock, { force: true }),
  };
}

/** Returns the URL of the service that uses a state folder and its operator's key; null when none is running. */
export function findService(dir: string): { url: string; operator_key: string } | null {
  const claim = readClaim(join(dir, LOCK));
  if (!claim?.url || !isRunning(claim.supervisor)) return null;
  return { url: claim.url, operator_key: readFileSync(join(dir, "operator-key"), "utf8") };
}

async function takeLock(dir: string, lock: string, claim: Claim): Promise<void> {
  const text = JSON.stringify(claim);
  for (let tries = 0; tries < 2; tries++) {
    if (attempt(dir, () => create(lock, text))) return;
    const old = readClaim(lock);
    if (old && isRunning(old.supervisor)) {
      throw errors.stateDirInUse({ dir, pid: old.supervisor.pid });
    }
    const orphans = old?.hosts.filter(
      (host) => (nameProcess(host.pid)?.started ?? host.started) === host.started,
    );
    await Promise.all((orphans ?? []).map((host) => endGroup(host.pid)));
    rmSync(lock, { force: true });
  }
  throw errors.stateDirLocked({ dir });
}

function readClaim(lock: string): Claim | null {
  try {
    return JSON.parse(readFileSync(lock, "utf8")) as Claim;
  } catch {
    return null;
  }
}

function readSecret(path: string): string {
  create(path, randomBytes(32).toString("base64url"));
  chmodSync(path, 0o600);
  return readFileSync(path, "utf8");
}

function create(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}

function write(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function attempt<T>(dir: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw errors.stateDirUnwritable({ dir, code: (thrown as NodeJS.ErrnoException).code, cause: thrown });
  }
}

/** Identifies a process uniquely, because the system may reuse its pid. */
interface ProcessName {
  pid: number;
  /** Start time in clock ticks since boot, from /proc/PID/stat (proc(5)); 0 without /proc. */
  started: number;
}

function nameProcess(pid: number): ProcessName | null {
  const stat = readStat(pid);
  if (stat) return stat.state === "Z" ? null : { pid, started: stat.started };
  return canSignal(pid) && !hasProc() ? { pid, started: 0 } : null;
}

function isRunning(name: ProcessName): boolean {
  return nameProcess(name.pid)?.started === name.started;
}

/** Lists the running processes of a group; only its leader on systems without /proc. */
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
    // The second field, the name in parentheses, may itself contain spaces and parentheses.
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
