import type { LocalOutput } from "../../src/browser/index.ts";
import { MediaError, manifestEntries, manifestsOf, type Output } from "../../src/index.ts";
import type { Item } from "../queue/item.ts";
import type { Queue } from "../queue/queue.ts";
import { outputName } from "./save/file-names.ts";

export interface OutputFile {
  /** Path relative to the folder of a stream; empty for a single file. */
  readonly path: string;
  /** In bytes; null when unknown before it is read. */
  readonly size: number | null;
  /** Reopens the file; holds nothing in memory. */
  open(): Promise<ReadableStream<Uint8Array>>;
}

/** The files to save for an item that succeeded. */
export interface Taken {
  /** Name of the file, or of the folder of a stream. */
  readonly name: string;
  readonly is_folder: boolean;
  readonly files: readonly OutputFile[];
}

/** Lists the files of an item's output: one, or those of a stream, for which remote playlists are read. */
export async function takenOf(item: Item, queue: Pick<Queue, "output">): Promise<Taken> {
  const output = await queue.output(item.id);
  const { source } = output;
  const name = outputName(item.name, source);
  if (source.kind !== "adaptive_video") {
    const open = () => output.stream();
    return { name, is_folder: false, files: [{ path: "", size: source.filesize ?? null, open }] };
  }
  const local = filesOf(output).map(({ name: path, file }): OutputFile => {
    return { path, size: file.size, open: async () => file.stream() };
  });
  const files = local.length > 0 ? local : await remoteFiles(manifestsOf(source.url, source.format));
  return { name, is_folder: true, files };
}

/** Returns the files of an output on this machine; none for one elsewhere. */
export function filesOf(output: Output): LocalOutput["files"] {
  return "files" in output ? (output as LocalOutput).files : [];
}

// All files of a stream are below its manifests.
async function remoteFiles(manifests: readonly string[]): Promise<OutputFile[]> {
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
    "A file of the stream could not be read; outputs are kept for a limited time.",
  );
}
