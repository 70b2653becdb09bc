import { openAsBlob } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { WrittenFile } from "../../src/encoders/encoder.ts";
import { adaptiveMime } from "../../src/ffmpeg/output.ts";
import { putFile } from "../../src/storage/http-writer.ts";

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

/** Puts files into a folder by its URL, several at once; `onPut` is told the share of the bytes that is put. Rejects as `putFile` does, when no request is under way any more. */
export async function putAll(
  files: readonly OutputFile[],
  folder: string,
  signal: AbortSignal,
  onPut: (share: number) => void,
): Promise<void> {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const failed = new AbortController();
  const options = {
    fetch: (url: string, init: RequestInit) => fetch(url, init),
    signal: AbortSignal.any([signal, failed.signal]),
  };
  const rest = [...files];
  let put = 0;
  const work = async () => {
    for (let file = rest.shift(); file; file = rest.shift()) {
      const { path, name, mime, size } = file;
      const blob = await openAsBlob(path);
      const url = folder + name.split("/").map(encodeURIComponent).join("/");
      await putFile(url, { size, open: async ({ start, end }) => blob.slice(start, end) }, mime, options);
      put += size;
      onPut(put / total);
    }
  };
  const workers = Array.from({ length: AT_ONCE }, () =>
    work().catch((thrown: unknown) => {
      failed.abort(thrown);
      throw thrown;
    }),
  );
  const ended = await Promise.allSettled(workers);
  signal.throwIfAborted();
  if (failed.signal.aborted) throw failed.signal.reason;
  const fault = ended.find((end) => end.status === "rejected");
  if (fault) throw fault.reason;
}
