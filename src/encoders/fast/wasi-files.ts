import type { SyncFile } from "../core/paged-file.ts";
import type { WrittenFile } from "../core/wasm-core.ts";

/** A file that the core writes. */
export interface OutputFile {
  readonly size: number;
  read(start: number, end: number): Uint8Array;
  write(at: number, bytes: Uint8Array): void;
  truncate(): void;
}

/** The files of one core: inputs that the host reads on demand, and outputs in memory. Paths have no leading slash. */
export interface WasiFiles {
  input(path: string): SyncFile | undefined;
  output(path: string): OutputFile | undefined;
  isFolder(path: string): boolean;
  mount(path: string, file: SyncFile): void;
  makeFolder(path: string): void;
  /** Creates an output, or returns the one that is there; null where its folder does not exist. */
  create(path: string): OutputFile | null;
  rename(from: string, to: string): boolean;
  remove(path: string): boolean;
  /** Removes the outputs below a folder and returns them. */
  take(folder: string): WrittenFile[];
}

const FIRST_BYTES = 65_536;

/** Creates the files of a core; `charge` is called with the bytes that outputs take more, or less where negative. */
export function createWasiFiles(charge: (bytes: number) => void): WasiFiles {
  const folders = new Set([""]);
  const inputs = new Map<string, SyncFile>();
  const outputs = new Map<string, OutputFile & { release(): Uint8Array }>();
  const trim = (path: string) => path.replace(/^\/+|\/+$/g, "");
  const parent = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

  function makeFolder(path: string): void {
    const name = trim(path);
    if (name === "") return;
    makeFolder(parent(name));
    folders.add(name);
  }

  return {
    input: (path) => inputs.get(path),
    output: (path) => outputs.get(path),
    isFolder: (path) => folders.has(trim(path)),
    makeFolder,
    mount(path, file) {
      makeFolder(parent(trim(path)));
      inputs.set(trim(path), file);
    },
    create(path) {
      if (!folders.has(parent(path))) return null;
      const file = outputs.get(path) ?? createOutput(charge);
      outputs.set(path, file);
      return file;
    },
    rename(from, to) {
      const file = outputs.get(from);
      if (!file) return false;
      outputs.get(to)?.release();
      outputs.delete(from);
      outputs.set(to, file);
      return true;
    },
    remove(path) {
      outputs.get(path)?.release();
      return outputs.delete(path);
    },
    take(folder) {
      const prefix = `${trim(folder)}/`;
      const taken = [...outputs].filter(([path]) => path.startsWith(prefix));
      return taken.map(([path, file]) => {
        outputs.delete(path);
        return { name: path.slice(prefix.length), bytes: file.release() };
      });
    },
  };
}

function createOutput(charge: (bytes: number) => void): OutputFile & { release(): Uint8Array } {
  let bytes = new Uint8Array();
  let size = 0;
  return {
    get size() {
      return size;
    },
    read: (start, end) => bytes.subarray(start, Math.min(end, size)),
    write(at, added) {
      const needed = at + added.length;
      if (needed > bytes.length) {
        const grown = Math.max(needed, FIRST_BYTES, Math.ceil(bytes.length * 1.5));
        charge(grown - bytes.length);
        const larger = new Uint8Array(grown);
        larger.set(bytes.subarray(0, size));
        bytes = larger;
      }
      bytes.set(added, at);
      size = Math.max(size, needed);
    },
    truncate() {
      size = 0;
    },
    release() {
      charge(-bytes.length);
      return bytes.subarray(0, size);
    },
  };
}
