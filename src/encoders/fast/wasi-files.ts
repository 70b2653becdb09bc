import type { SyncFile } from "../core/paged-file.ts";
import type { WrittenFile } from "../core/wasm-core.ts";
import { createOutput, createPoured, type OutputFile, type Released, type Spill } from "./output-file.ts";

/**
 * The files of one core: inputs that the host reads on demand, and outputs. Paths begin at the root, with or without
 * a slash, and may contain `.` and `..`.
 */
export interface WasiFiles {
  input(path: string): SyncFile | undefined;
  output(path: string): OutputFile | undefined;
  isFolder(path: string): boolean;
  mount(path: string, file: SyncFile): void;
  /** Removes the inputs below a folder. */
  unmount(folder: string): void;
  makeFolder(path: string): void;
  /** Removes a folder; returns false where there is none, or something in it. */
  removeFolder(path: string): boolean;
  /** Returns the names in a folder; null where there is none. */
  list(folder: string): string[] | null;
  /** Creates an output, or returns the one that is there; null where its folder does not exist. */
  create(path: string): OutputFile | null;
  /** Passes the bytes of an output on as they are written, in place of keeping them. */
  pour(path: string, onBytes: (bytes: Uint8Array) => void): void;
  rename(from: string, to: string): boolean;
  remove(path: string): boolean;
  /** Removes the outputs below a folder and returns them. */
  take(folder: string): WrittenFile[];
}

/** Creates the files of a core; `charge` is called with the bytes that outputs take more, or less where negative. */
export function createWasiFiles(charge: (bytes: number) => void, spill: Spill | null = null): WasiFiles {
  const folders = new Set([""]);
  const inputs = new Map<string, SyncFile>();
  const outputs = new Map<string, OutputFile & { release(): Released }>();
  const parent = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

  function makeFolder(path: string): void {
    const name = normalize(path);
    if (name === "") return;
    makeFolder(parent(name));
    folders.add(name);
  }

  function list(folder: string): string[] | null {
    const name = normalize(folder);
    if (!folders.has(name)) return null;
    const all = [...folders, ...inputs.keys(), ...outputs.keys()];
    return all
      .filter((path) => path !== "" && parent(path) === name)
      .map((path) => path.slice(path.lastIndexOf("/") + 1));
  }

  return {
    input: (path) => inputs.get(normalize(path)),
    output: (path) => outputs.get(normalize(path)),
    isFolder: (path) => folders.has(normalize(path)),
    makeFolder,
    removeFolder(path) {
      const name = normalize(path);
      return name !== "" && list(name)?.length === 0 && folders.delete(name);
    },
    list,
    mount(path, file) {
      const name = normalize(path);
      makeFolder(parent(name));
      inputs.set(name, file);
    },
    unmount(folder) {
      const prefix = `${normalize(folder)}/`;
      for (const path of inputs.keys()) if (path.startsWith(prefix)) inputs.delete(path);
    },
    create(path) {
      const name = normalize(path);
      if (!folders.has(parent(name))) return null;
      const file = outputs.get(name) ?? createOutput(charge, spill);
      outputs.set(name, file);
      return file;
    },
    pour: (path, onBytes) => void outputs.set(normalize(path), createPoured(onBytes)),
    rename(given, to) {
      const [from, target] = [normalize(given), normalize(to)];
      const file = outputs.get(from);
      if (!file || !folders.has(parent(target))) return false;
      outputs.delete(from);
      outputs.get(target)?.release();
      outputs.set(target, file);
      return true;
    },
    remove(path) {
      const name = normalize(path);
      outputs.get(name)?.release();
      return outputs.delete(name);
    },
    take(folder) {
      const prefix = `${normalize(folder)}/`;
      const taken = [...outputs].filter(([path]) => path.startsWith(prefix));
      return taken.map(([path, file]) => {
        outputs.delete(path);
        const { front, bytes } = file.release();
        const name = path.slice(prefix.length);
        return front.length > 0 ? { name, bytes, front: new Blob([...front]) } : { name, bytes };
      });
    },
  };
}

// Playlists name files of other folders through "..".
function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
