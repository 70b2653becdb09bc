import type { CoreFileSystem } from "./core-module.ts";
import type { SyncFile } from "./paged-file.ts";

/** A file moved out of the core's memory file system. */
export interface TakenFile {
  bytes: Uint8Array;
  /** Bytes that the core had allocated for it; may exceed the file's size. */
  capacity: number;
}

/** Mounts a file under a path such as `/in/input`, in a folder of its own, without copying it. */
export function mountFile(files: CoreFileSystem, path: string, file: SyncFile): void {
  const cut = path.lastIndexOf("/");
  const [folder, name] = [path.slice(0, cut), path.slice(cut + 1)];
  const { WORKERFS } = files.filesystems;
  WORKERFS.reader = { readAsArrayBuffer: (slice: { read(): ArrayBuffer }) => slice.read() };
  // The core would allocate a buffer for every read. One shared buffer is safe: the core copies each read before the next.
  let scratch = new ArrayBuffer(0);
  const read = (start: number, stop: number) => {
    const bytes = file.read(start, stop);
    if (scratch.byteLength !== bytes.length) scratch = new ArrayBuffer(bytes.length);
    new Uint8Array(scratch).set(bytes);
    return scratch;
  };
  const slice = (start: number, end: number) => {
    const stop = Math.min(end, file.size);
    return { size: stop - start, read: () => read(start, stop) };
  };
  files.mkdir(folder);
  files.mount(WORKERFS, { blobs: [{ name, data: { size: file.size, slice } }] }, folder);
}

/** Moves all files below a folder out of a core; their names are paths relative to the folder. */
export function takeFiles(files: CoreFileSystem, folder: string): (TakenFile & { name: string })[] {
  return listFiles(files, folder).map((path) => ({
    name: path.slice(folder.length + 1),
    ...takeFile(files, path),
  }));
}

/** Moves a file out of a core without copying, which would double its memory. A missing file counts as empty. */
export function takeFile(files: CoreFileSystem, path: string): TakenFile {
  let bytes: Uint8Array = new Uint8Array();
  let capacity = 0;
  try {
    const { contents, usedBytes } = files.lookupPath(path).node;
    if (ArrayBuffer.isView(contents)) {
      bytes = new Uint8Array(contents.buffer, contents.byteOffset, usedBytes);
      capacity = contents.byteLength;
    }
    files.unlink(path);
  } catch {
    // The file was never written.
  }
  return { bytes, capacity };
}

function listFiles(files: CoreFileSystem, folder: string): string[] {
  return files
    .readdir(folder)
    .filter((name) => name !== "." && name !== "..")
    .flatMap((name) => {
      const path = `${folder}/${name}`;
      return files.isDir(files.stat(path).mode) ? listFiles(files, path) : [path];
    });
}
