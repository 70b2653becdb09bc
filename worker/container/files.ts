import { randomBytes } from "node:crypto";
import { openAsBlob, readFileSync } from "node:fs";
import { chmod, type FileHandle, mkdir, mkdtemp, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { WrittenFile } from "../../src/encoders/encoder.ts";
import * as ffmpegErrors from "../../src/media/ffmpeg/errors.ts";
import { adaptiveMime } from "../../src/media/ffmpeg/output-files.ts";
import { readSegment } from "../../src/mux/contents.ts";
import { putFile } from "../../src/storage/http/writer.ts";

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

interface OutputFile extends WrittenFile {
  /** Path on this machine. */
  path: string;
}

const CONCURRENCY = 4;

/** Lists the files in the folder of an output. `single` replaces the name and type of a single file. */
export async function listOutput(
  folder: string,
  single: { name: string; mime: string } | null,
): Promise<OutputFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.sort().map(async (path) => {
      const name = relative(folder, path);
      const { size } = await stat(path);
      return { path, size, ...(single ?? { name, mime: adaptiveMime(name) }) };
    }),
  );
}

/** Reads playlists as text. */
export function readPlaylists(
  files: readonly OutputFile[],
): Promise<{ name: string; mime: string; text: string }[]> {
  return Promise.all(
    files.map(async ({ path, name, mime }) => ({ name, mime, text: await readFile(path, "utf8") })),
  );
}

/** Uploads of a job's files. */
export interface Uploads {
  /** Aborts with the error of the first file that cannot be uploaded. */
  failed: AbortSignal;
  /** Returns whether a file of that name was added. */
  has(name: string): boolean;
  /** Queues a file, unless one of that name was added before. */
  add(file: OutputFile): void;
  /** Adds these files and waits for all; calls `onShare` with the share of bytes sent. Rejects as `putFile` does, once no request is pending. */
  end(files: readonly OutputFile[], onShare: (share: number) => void): Promise<void>;
  /** Waits for pending requests, and starts no more. */
  stop(): Promise<void>;
}

/** Uploads files to the URL of a folder, several at once, until the signal aborts. */
export function createUploads(folder: string, signal: AbortSignal): Uploads {
  const failed = new AbortController();
  const options = {
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    signal: AbortSignal.any([signal, failed.signal]),
  };
  const added = new Set<string>();
  const queue: OutputFile[] = [];
  const pending = new Set<Promise<void>>();
  let isStopped = false;
  let bytes = 0;
  let report = () => {};

  const upload = async ({ path, name, mime, size }: OutputFile) => {
    const blob = await openAsBlob(path);
    const url = folder + name.split("/").map(encodeURIComponent).join("/");
    await putFile(url, { size, open: async ({ start, end }) => blob.slice(start, end) }, mime, options);
    bytes += size;
    report();
  };
  const fill = () => {
    while (pending.size < CONCURRENCY && !options.signal.aborted) {
      const file = queue.shift();
      if (!file) return;
      const request: Promise<void> = upload(file)
        .catch((thrown: unknown) => failed.abort(thrown))
        .finally(() => {
          pending.delete(request);
          fill();
        });
      pending.add(request);
    }
  };
  const add = (file: OutputFile) => {
    if (isStopped || added.has(file.name)) return;
    added.add(file.name);
    queue.push(file);
    fill();
  };
  return {
    failed: failed.signal,
    has: (name) => added.has(name),
    add,
    async end(files, onShare) {
      const total = files.reduce((sum, { size }) => sum + size, 0);
      report = () => onShare(bytes / total);
      for (const file of files) add(file);
      while (pending.size > 0) await Promise.all(pending);
      signal.throwIfAborted();
      failed.signal.throwIfAborted();
    },
    async stop() {
      isStopped = true;
      queue.length = 0;
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

/**
 * Throws `storage_full` unless all files of adaptive video are complete: when the disk is full, ffmpeg 5.1 leaves truncated segments and
 * still exits with 0.
 */
export async function checkSegments(files: readonly OutputFile[]): Promise<void> {
  for (const file of files) {
    if (!(file.name.endsWith(".m3u8") ? file.size > 0 : await isComplete(file)))
      throw ffmpegErrors.diskFull();
  }
}

/** Returns each segment's name with its facts. */
export async function readSegments(
  files: readonly OutputFile[],
): Promise<(readonly [string, ReturnType<typeof readSegment>])[]> {
  const facts: [string, ReturnType<typeof readSegment>][] = [];
  // One at a time, because the segments of a long sound exceed the memory of its job.
  for (const { name, path } of files)
    if (name.endsWith(".m4s")) facts.push([name, readSegment(await readFile(path))]);
  return facts;
}

/** Returns whether the boxes of an MP4 file or segment (ISO/IEC 14496-12, 4.2) end exactly where the file does. */
export async function isComplete({ path, size }: OutputFile): Promise<boolean> {
  await using file = await open(path);
  return size > 0 && (await boxesEnd(file, size)) === size;
}

async function boxesEnd(file: FileHandle, size: number): Promise<number> {
  const header = new DataView(new ArrayBuffer(16));
  let at = 0;
  while (at < size) {
    await file.read(header, 0, 16, at);
    const short = header.getUint32(0);
    const length = short === 1 ? Number(header.getBigUint64(8)) : short;
    if (length < 8) return 0;
    at += length;
  }
  return at;
}

const SEGMENT = /^(.+\/seg_)(\d+)\.m4s$/;

/**
 * Lists the segments that a running ffmpeg has finished, complete ones with a successor, except those already added. Other files, and the
 * last segment, are only complete after it has ended.
 */
export async function finishedSegments(
  folder: string,
  isAdded: (name: string) => boolean,
): Promise<OutputFile[]> {
  const files = await listOutput(folder, null);
  const names = new Set(files.map(({ name }) => name));
  const finished: OutputFile[] = [];
  for (const file of files) {
    const [, stem, number] = SEGMENT.exec(file.name) ?? [];
    if (number === undefined || isAdded(file.name)) continue;
    const next = `${stem}${String(Number(number) + 1).padStart(number.length, "0")}.m4s`;
    if (names.has(next) && (await isComplete(file))) finished.push(file);
  }
  return finished;
}
