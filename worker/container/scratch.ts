import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** The temporary folder of a server, with one folder a job. */
export interface Scratch {
  readonly path: string;
  /** Creates an empty folder. */
  create(): Promise<string>;
  /** Removes the whole folder. */
  end(): Promise<void>;
}

const NAME = /^framewright-native-(\d+)-(\d+)-[0-9a-f]+$/;

/**
 * Creates the folder of this server in `home`, and removes the folders of servers that crashed. With `shared`, the group may write to the
 * folders of jobs, because ffmpeg runs as another user.
 */
export async function createScratch(home: string, shared = false): Promise<Scratch> {
  await removeLeftovers(home);
  const { pid } = process;
  const path = join(
    home,
    `framewright-native-${pid}-${startTicks(pid) ?? 0}-${randomBytes(4).toString("hex")}`,
  );
  await mkdir(path, { mode: shared ? 0o710 : 0o700, recursive: true });
  return {
    path,
    async create() {
      const folder = await mkdtemp(join(path, "job-"));
      if (shared) await chmod(folder, 0o770);
      return folder;
    },
    end: () => removeFolder(path),
  };
}

/** Removes a folder with its files, even while a process still writes to it. */
export function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

async function removeLeftovers(home: string): Promise<void> {
  const names = await readdir(home).catch(() => []);
  const leftovers = names.filter((name) => {
    const [, pid, started] = NAME.exec(name) ?? [];
    return pid !== undefined && !isRunning(Number(pid), Number(started));
  });
  // Folders of other users stay.
  await Promise.allSettled(leftovers.map((name) => removeFolder(join(home, name))));
}

function isRunning(pid: number, started: number): boolean {
  if (started > 0) return startTicks(pid) === started;
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

// Clock ticks from boot to the start of a process, from /proc/PID/stat (proc(5)); a pid alone may be reused.
function startTicks(pid: number): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the name in parentheses, may itself contain spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : Number(fields[19]);
  } catch {
    return null;
  }
}
