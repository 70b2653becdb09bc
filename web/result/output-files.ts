import type { LocalOutput } from "../../src/browser/index.ts";
import { MediaError, manifestEntries, manifestsOf, type Output, type Source } from "../../src/index.ts";
import type { Item } from "../queue/item.ts";
import type { Queue } from "../queue/queue.ts";
import { fileName, isFolder, outputName } from "./save/file-names.ts";

export interface OutputFile {
  /** Path relative to the output's folder; empty for a single file. */
  readonly path: string;
  /** In bytes; null when unknown before it is read. */
  readonly size: number | null;
  /** Reopens the file; holds nothing in memory. */
  open(): Promise<ReadableStream<Uint8Array>>;
}

/** The files to save for an item that succeeded. */
export interface Taken {
  /** Name of the file, or of the folder. */
  readonly name: string;
  readonly is_folder: boolean;
  readonly files: readonly OutputFile[];
}

/** Lists the files of an item's output: one, or those of a folder. Reads the playlists of a remote stream. */
export async function takenOf(item: Item, queue: Pick<Queue, "output">): Promise<Taken> {
  const output = await queue.output(item.id);
  const { source } = output;
  const name = outputName(item.name, source);
  if (!isFolder(source)) {
    const open = () => output.stream();
    return { name, is_folder: false, files: [{ path: "", size: source.filesize ?? null, open }] };
  }
  const local = filesOf(output).map(({ name: path, file }): OutputFile => {
    return { path, size: file.size, open: async () => file.stream() };
  });
  return { name, is_folder: true, files: local.length > 0 ? local : await remoteFiles(source) };
}

/** Returns the files of an output on this machine; none for one elsewhere. */
export function filesOf(output: Output): LocalOutput["files"] {
  return "files" in output ? (output as LocalOutput).files : [];
}

async function remoteFiles({ url, format, files }: Source): Promise<OutputFile[]> {
  if (!files) return streamFiles(manifestsOf(url, format));
  return files.map((file) => ({
    path: fileName(file.url),
    size: file.filesize,
    open: () => open(file.url),
  }));
}

// All files of a stream are below its manifests.
async function streamFiles(manifests: readonly string[]): Promise<OutputFile[]> {
  const base = new URL(".", manifests.at(-1)).href;
  const found = new Map<string, OutputFile>();
  const visit = async (url: string): Promise<void> => {
    if (found.has(url) || !url.startsWith(base)) return;
    const path = url.slice(base.length).replace(/[?#].*$/, "");
    found.set(url, { path, size: null, open: () => open(url) });
    if (!/\.(m3u8|mpd)$/.test(path)) return;
    const text = await new Response(await open(url)).text();
    for (const entry of manifestEntries(text)) await visit(new URL(entry, url).href);
  };
  for (const url of manifests) await visit(new URL(url).href);
  return [...found.values()];
}

async function open(url: string): Promise<ReadableStream<Uint8Array>> {
  const response = await fetch(url).catch(() => null);
  if (response?.ok && response.body) return response.body;
  throw new MediaError(
    "media_not_found",
    "A file of the output could not be read; outputs are kept for a limited time.",
  );
}
