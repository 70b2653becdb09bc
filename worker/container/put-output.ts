import { openAsBlob } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { WrittenFile } from "../../src/encoders/encoder.ts";
import { adaptiveMime } from "../../src/ffmpeg/output.ts";
import { putFile } from "../../src/storage/http/writer.ts";

/** A file that ffmpeg wrote. */
export interface OutputFile extends WrittenFile {
  /** Where it is on this machine. */
  path: string;
}

// Several small ones share the waiting; large ones would only share the line.
const AT_ONCE = 4;

/** Lists what is in the folder of an output: of a single file under the name and type it is to have, else under their own. */
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

/** Files on their way into a folder. */
export interface Puts {
  /** Aborts with the fault as soon as a file could not be put. */
  failed: AbortSignal;
  /** True for the name of a file that was added. */
  has(name: string): boolean;
  /** Puts a file when its turn comes, unless one of its name was added before. */
  add(file: OutputFile): void;
  /** Puts these as well and waits for all; calls `onPut` with the share of bytes sent. Rejects as `putFile` does, once no request is pending. */
  end(files: readonly OutputFile[], onPut: (share: number) => void): Promise<void>;
  /** Waits for the requests under way, and begins no other. */
  stop(): Promise<void>;
}

/** Puts files into a folder by its URL, several at once, until the signal aborts. */
export function createPuts(folder: string, signal: AbortSignal): Puts {
  const failed = new AbortController();
  const options = {
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    signal: AbortSignal.any([signal, failed.signal]),
  };
  const added = new Set<string>();
  const waiting: OutputFile[] = [];
  const underWay = new Set<Promise<void>>();
  let stopped = false;
  let put = 0;
  let tell = () => {};

  const putOne = async ({ path, name, mime, size }: OutputFile) => {
    const blob = await openAsBlob(path);
    const url = folder + name.split("/").map(encodeURIComponent).join("/");
    await putFile(url, { size, open: async ({ start, end }) => blob.slice(start, end) }, mime, options);
    put += size;
    tell();
  };
  const goOn = () => {
    while (underWay.size < AT_ONCE && !options.signal.aborted) {
      const file = waiting.shift();
      if (!file) return;
      const request: Promise<void> = putOne(file)
        .catch((thrown: unknown) => failed.abort(thrown))
        .finally(() => {
          underWay.delete(request);
          goOn();
        });
      underWay.add(request);
    }
  };
  const add = (file: OutputFile) => {
    if (stopped || added.has(file.name)) return;
    added.add(file.name);
    waiting.push(file);
    goOn();
  };
  return {
    failed: failed.signal,
    has: (name) => added.has(name),
    add,
    async end(files, onPut) {
      const total = files.reduce((sum, { size }) => sum + size, 0);
      tell = () => onPut(put / total);
      for (const file of files) add(file);
      while (underWay.size > 0) await Promise.all(underWay);
      signal.throwIfAborted();
      failed.signal.throwIfAborted();
    },
    async stop() {
      stopped = true;
      waiting.length = 0;
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
