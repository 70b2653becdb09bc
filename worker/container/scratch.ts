import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** The folder of one server, in which each job has its own. */
export interface Scratch {
  readonly path: string;
  /** Makes an empty folder. */
  create(): Promise<string>;
  /** Removes the folder and all that is in it. */
  end(): Promise<void>;
}

const NAME = /^framewright-native-(\d+)-(\d+)-[0-9a-f]+$/;

/**
 * Makes the folder of this server in `home`, and removes those of servers that ended without doing so. The group may write in the
 * folders of jobs where ffmpeg is another user of it.
 */
export async function createScratch(home: string, shared = false): Promise<Scratch> {
  await removeLeftovers(home);
  const { pid } = process;
  const path = join(home, `framewright-native-${pid}-${startOf(pid) ?? 0}-${randomBytes(4).toString("hex")}`);
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

/** Removes a folder and all that is in it, also while something still writes to it. */
export function removeFolder(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}

async function removeLeftovers(home: string): Promise<void> {
  const names = await readdir(home).catch(() => []);
  const left = names.filter((name) => {
    const [, pid, started] = NAME.exec(name) ?? [];
    return pid !== undefined && !isSame(Number(pid), Number(started));
  });
  // Removing a folder of another user fails, as it should.
  await Promise.allSettled(left.map((name) => removeFolder(join(home, name))));
}

function isSame(pid: number, started: number): boolean {
  if (started > 0) return startOf(pid) === started;
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

// Clock ticks from boot to the start of a process, of /proc/PID/stat (proc(5)): a pid alone may be given again.
function startOf(pid: number): number | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the name in brackets, may hold spaces and brackets of its own.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? null : Number(fields[19]);
  } catch {
    return null;
  }
}
