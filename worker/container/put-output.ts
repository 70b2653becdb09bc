import { openAsBlob } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { WrittenFile } from "../../src/encoders/encoder.ts";
import { adaptiveMime } from "../../src/media/ffmpeg/output-files.ts";
import { putFile } from "../../src/storage/http/writer.ts";

/** A file that ffmpeg wrote. */
export interface OutputFile extends WrittenFile {
  /** Path on this machine. */
  path: string;
}

// Parallel requests hide the latency of small files; more would not speed up large ones.
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
  let sent = 0;
  let report = () => {};

  const upload = async ({ path, name, mime, size }: OutputFile) => {
    const blob = await openAsBlob(path);
    const url = folder + name.split("/").map(encodeURIComponent).join("/");
    await putFile(url, { size, open: async ({ start, end }) => blob.slice(start, end) }, mime, options);
    sent += size;
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
      report = () => onShare(sent / total);
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
