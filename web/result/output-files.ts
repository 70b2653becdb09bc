import { useEffect, useState } from "preact/hooks";
import type { LocalOutput } from "../../src/browser/index.ts";
import { MediaError, manifestEntries, manifestsOf, type Output, type Source } from "../../src/index.ts";
import type { Fault, Item } from "../queue/item.ts";
import type { Queue } from "../queue/queue.ts";
import { useWorkbench } from "../workbench.ts";
import { fileName, isFolder, outputName } from "./file-names.ts";
import { faultOf } from "./operation.tsx";
import * as strings from "./strings.ts";

export interface OutputFile {
  /** Path relative to the output's folder; empty for a single file. */
  readonly path: string;
  /** Size in bytes; null if unknown before the file is read. */
  readonly size: number | null;
  /** Reopens the file; holds nothing in memory. */
  open(): Promise<ReadableStream<Uint8Array>>;
}

/** The files to save for an item that succeeded. */
export interface SavedOutput {
  /** Name of the file, or of the folder. */
  readonly name: string;
  readonly is_folder: boolean;
  readonly files: readonly OutputFile[];
}

/** Lists the files of an item's output: one, or those of a folder. Reads the playlists of a remote stream. */
export async function savedOutputOf(item: Item, queue: Pick<Queue, "output">): Promise<SavedOutput> {
  const output = await queue.output(item.id);
  const { source } = output;
  const name = outputName(item.name, source, item.naming);
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

// All files of a stream are in the folder of its last manifest.
async function streamFiles(manifests: readonly string[]): Promise<OutputFile[]> {
  const base = new URL(".", manifests.at(-1)).href;
  const files = new Map<string, OutputFile>();
  const visit = async (url: string): Promise<void> => {
    if (files.has(url) || !url.startsWith(base)) return;
    const path = url.slice(base.length).replace(/[?#].*$/, "");
    files.set(url, { path, size: null, open: () => open(url) });
    if (!/\.(m3u8|mpd)$/.test(path)) return;
    const text = await new Response(await open(url)).text();
    for (const entry of manifestEntries(text)) await visit(new URL(entry, url).href);
  };
  for (const url of manifests) await visit(new URL(url).href);
  return [...files.values()];
}

async function open(url: string): Promise<ReadableStream<Uint8Array>> {
  const response = await fetch(url).catch(() => null);
  if (response?.ok && response.body) return response.body;
  throw new MediaError("media_not_found", strings.outputUnreadable);
}

/** The output of an item: opened, loading, or why it cannot be opened. */
export type OpenedOutput =
  | { readonly output: Output; readonly url: string; readonly fault: null }
  | { readonly output: null; readonly url: null; readonly fault: Fault | null };

/** Opens the output of an item that succeeded, with a URL for a media element. */
export function useOutput(item: Item): OpenedOutput {
  const { queue } = useWorkbench();
  const [opened, setOpened] = useState<OpenedOutput>({ output: null, url: null, fault: null });
  useEffect(() => {
    let isGone = false;
    const set = (next: OpenedOutput) => isGone || setOpened(next);
    queue
      .output(item.id)
      .then(async (output) => set({ output, url: await output.url(), fault: null }))
      .catch((thrown: unknown) => set({ output: null, url: null, fault: faultOf(thrown) }));
    return () => {
      isGone = true;
    };
  }, [queue, item.id, item.task?.id]);
  return opened;
}

// An object URL is valid as long as the page is open.
const originalUrls = new WeakMap<Blob, string>();

/** Returns an item's original file as its output; null when there is none. */
export async function originalOutput({ input, source, name }: Item): Promise<LocalOutput | null> {
  if (!source || input === null || typeof input === "string") return null;
  const blob = "getFile" in input ? await input.getFile() : input;
  const file = blob instanceof File ? blob : new File([blob], name, { type: blob.type });
  return {
    // Saving takes the extension from this URL.
    source: { ...source, url: `file:${encodeURIComponent(name)}`, filesize: file.size },
    files: [{ name, file }],
    async url() {
      const url = originalUrls.get(blob) ?? URL.createObjectURL(file);
      originalUrls.set(blob, url);
      return url;
    },
    blob: async () => file,
    stream: async () => file.stream(),
    async saveTo(handle, options) {
      await file
        .stream()
        .pipeTo(await handle.createWritable(), options?.signal ? { signal: options.signal } : {});
    },
  };
}
