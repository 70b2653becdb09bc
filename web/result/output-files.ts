import { useEffect, useState } from "preact/hooks";
import type { LocalOutput } from "../../src/browser/index.ts";
import { MediaError, manifestEntries, manifestsOf, type Output, type Source } from "../../src/index.ts";
import type { Fault, Item } from "../queue/item.ts";
import type { Queue } from "../queue/queue.ts";
import { useWorkbench } from "../workbench.ts";
import * as strings from "./strings.ts";

const FORBIDDEN = /[\\/:*?"<>|\p{Cc}]/gu;
const MAX_LENGTH = 120;

/** Returns whether an output is a folder of files: a stream, a storyboard, or several stills. */
export function isFolder({ kind, files }: Pick<Source, "kind" | "files">): boolean {
  return kind === "adaptive_video" || files !== undefined;
}

/** Names an output for the visitor: the input's name with the output's extension, which a folder does not have. */
export function outputName(
  inputName: string,
  output: Pick<Source, "kind" | "url" | "format" | "files">,
): string {
  const stem = stemOf(inputName);
  return isFolder(output) ? stem : `${stem}.${endingOf(output)}`;
}

/** Names a file of a folder by its URL, so that it stays in the folder. */
export function fileName(url: string): string {
  const last = url.replace(/[?#].*$/, "").replace(/^.*\//, "");
  return decodeName(last)
    .replaceAll(FORBIDDEN, "_")
    .replace(/^\.+/, (dots) => "_".repeat(dots.length));
}

/** Decodes a percent-encoded name; returns a malformed one as it is. */
export function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Numbers repeated names, as in `clip (2).mp4`; compares them case-insensitively, as many disks do. */
export function numberDuplicates(names: readonly string[]): string[] {
  const used = new Set<string>();
  return names.map((name) => {
    const free = freeName(name, (each) => used.has(each.toLowerCase()));
    used.add(free.toLowerCase());
    return free;
  });
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let number = 2; isTaken(free); number++) free = withNumber(name, number);
  return free;
}

export function withNumber(name: string, number: number): string {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? `${name.slice(0, dot)} (${number})${name.slice(dot)}` : `${name} (${number})`;
}

function stemOf(inputName: string): string {
  const safe = inputName.replace(/[?#].*$/, "").replaceAll(FORBIDDEN, "_");
  const dot = safe.lastIndexOf(".");
  const stem = [...(dot > 0 ? safe.slice(0, dot) : safe)].slice(0, MAX_LENGTH).join("");
  return stem.replace(/^[.\s]+|[.\s]+$/g, "") || "media";
}

function endingOf({ url, format }: Pick<Source, "url" | "format">): string {
  const path = url.replace(/[?#].*$/, "");
  return /\.([a-z0-9]{1,5})$/i.exec(path)?.[1]?.toLowerCase() ?? format;
}

export interface Watch {
  readonly signal: AbortSignal;
  /** Receives the bytes done and the total; null when unknown. */
  onProgress(done: number, total: number | null): void;
}

const NOT_ALLOWED: ReadonlySet<string> = new Set([
  "NotAllowedError",
  "NoModificationAllowedError",
  "SecurityError",
]);

/**
 * Writes a stream to a file; on failure the file keeps its content. Rejects with `storage_full`, `forbidden`,
 * `upload_failed`, as the stream does, or with the signal's reason.
 */
export async function writeFile(
  handle: FileSystemFileHandle,
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  let file: FileSystemWritableFileStream;
  try {
    file = await handle.createWritable();
  } catch (thrown) {
    await stream.cancel().catch(() => {});
    throw saveFault(thrown);
  }
  try {
    await (stream as ReadableStream<Uint8Array<ArrayBuffer>>).pipeTo(file, { signal });
  } catch (thrown) {
    signal.throwIfAborted();
    throw saveFault(thrown);
  }
}

/** Passes a stream through and reports the bytes. */
export function countBytes(
  stream: ReadableStream<Uint8Array>,
  onBytes: (count: number) => void,
): ReadableStream<Uint8Array> {
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes(chunk.length);
      controller.enqueue(chunk);
    },
  });
  return stream.pipeThrough(count);
}

/** Describes why something could not be saved, and what to do. */
export function saveFault(thrown: unknown): MediaError {
  if (thrown instanceof MediaError) return thrown;
  const name = thrown instanceof Error || thrown instanceof DOMException ? thrown.name : "";
  const cause = thrown;
  if (name === "QuotaExceededError") {
    return new MediaError("storage_full", strings.diskFull, {
      cause,
    });
  }
  if (NOT_ALLOWED.has(name)) {
    const message = strings.writeForbidden;
    return new MediaError("forbidden", message, { cause });
  }
  if (name === "NotFoundError") {
    return new MediaError("upload_failed", strings.folderGone, {
      cause,
    });
  }
  return new MediaError("upload_failed", strings.writeFailed, {
    cause,
  });
}

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

/** Describes an error; unexpected ones in general terms. */
export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof MediaError) {
    const { kind, message, reason } = thrown;
    return { kind, message, ...(reason && { reason }) };
  }
  return { kind: "internal_error", message: strings.pageFailed };
}
