import type { OutputFile } from "./output-file.ts";
import type { WasiFiles } from "./wasi-files.ts";

/** Thrown through the core by `proc_exit`. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`Exit with ${code}.`);
    this.code = code;
  }
}

/** What one run of the core needs from its host. */
export interface WasiHost {
  args: readonly string[];
  memory: WebAssembly.Memory;
  files: WasiFiles;
  /** Receives what the core prints. */
  print(bytes: Uint8Array): void;
}

// Error numbers, file types, flags and rights of WASI preview 1.
const [OK, BADF, EXIST, INVAL, NOENT, NOTSUP] = [0, 8, 20, 28, 44, 58];
const [CHARACTERS, FOLDER, REGULAR] = [2, 3, 4];
const [CREATE, DIRECTORY, EXCLUSIVE, TRUNCATE] = [1, 2, 4, 8];
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;
const APPEND = 1;
// The only folder that is open from the start, after stdin, stdout and stderr.
const ROOT = 3;
const [FROM_START, FROM_HERE, FROM_END] = [0, 1, 2];

interface OpenFile {
  size(): number;
  read(start: number, end: number): Uint8Array;
  output: OutputFile | null;
  at: number;
}

/** The imports of a core: the calls of WASI that ffmpeg makes, and no other; there is no network and no environment. */
export function createWasi({ args, memory, files, print }: WasiHost): WebAssembly.ModuleImports {
  const open = new Map<number, OpenFile>();
  let next = ROOT + 1;
  const view = () => new DataView(memory.buffer);
  const bytesAt = (at: number, length: number) => new Uint8Array(memory.buffer, at >>> 0, length >>> 0);
  const text = (at: number, length: number) => new TextDecoder().decode(bytesAt(at, length));
  const encoded = args.map((arg) => new TextEncoder().encode(`${arg}\0`));

  // Vectors of address and length, as all reads and writes have them.
  function* vectors(at: number, count: number): Generator<Uint8Array> {
    for (let index = 0; index < count; index++) {
      const entry = (at >>> 0) + 8 * index;
      yield bytesAt(view().getUint32(entry, true), view().getUint32(entry + 4, true));
    }
  }

  function writeStat(at: number, type: number, size: number): number {
    bytesAt(at, 64).fill(0);
    view().setUint8(at + 16, type);
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(size), true);
    return OK;
  }

  function openPath(path: string, flags: number): OpenFile | number {
    const input = files.input(path);
    if (input) {
      if (flags & (CREATE | TRUNCATE)) return EXIST;
      return { size: () => input.size, read: (start, end) => input.read(start, end), output: null, at: 0 };
    }
    const known = files.output(path);
    if (known && flags & EXCLUSIVE) return EXIST;
    const output = known ?? (flags & CREATE ? files.create(path) : null);
    if (!output) return NOENT;
    if (flags & TRUNCATE) output.truncate();
    return { size: () => output.size, read: (start, end) => output.read(start, end), output, at: 0 };
  }

  return {
    args_sizes_get(count: number, bytes: number) {
      view().setUint32(count, encoded.length, true);
      view().setUint32(
        bytes,
        encoded.reduce((sum, { length }) => sum + length, 0),
        true,
      );
      return OK;
    },
    args_get(pointers: number, bytes: number) {
      let at = bytes;
      for (const [index, arg] of encoded.entries()) {
        view().setUint32(pointers + 4 * index, at, true);
        bytesAt(at, arg.length).set(arg);
        at += arg.length;
      }
      return OK;
    },
    environ_sizes_get(count: number, bytes: number) {
      view().setUint32(count, 0, true);
      view().setUint32(bytes, 0, true);
      return OK;
    },
    environ_get: () => OK,
    clock_time_get(clock: number, _precision: bigint, at: number) {
      const milliseconds = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(milliseconds * 1e6)), true);
      return OK;
    },
    // ffmpeg sleeps only while it waits for more input, and here that is always there.
    poll_oneoff(subscriptions: number, events: number, count: number, written: number) {
      for (let index = 0; index < count; index++) {
        const [from, to] = [subscriptions + 48 * index, events + 32 * index];
        bytesAt(to, 32).fill(0);
        bytesAt(to, 8).set(bytesAt(from, 8));
        view().setUint8(to + 10, view().getUint8(from + 8));
      }
      view().setUint32(written, count, true);
      return OK;
    },
    proc_exit(code: number) {
      throw new Exit(code);
    },
    fd_prestat_get(fd: number, at: number) {
      if (fd !== ROOT) return BADF;
      view().setUint8(at, 0);
      view().setUint32(at + 4, 1, true);
      return OK;
    },
    fd_prestat_dir_name(fd: number, at: number, length: number) {
      if (fd !== ROOT || length < 1) return BADF;
      view().setUint8(at, "/".charCodeAt(0));
      return OK;
    },
    fd_fdstat_get(fd: number, at: number) {
      if (fd > ROOT && !open.has(fd)) return BADF;
      bytesAt(at, 24).fill(0);
      view().setUint8(at, fd < ROOT ? CHARACTERS : fd === ROOT ? FOLDER : REGULAR);
      view().setUint16(at + 2, fd < ROOT ? APPEND : 0, true);
      view().setBigUint64(at + 8, ALL_RIGHTS, true);
      view().setBigUint64(at + 16, ALL_RIGHTS, true);
      return OK;
    },
    fd_fdstat_set_flags: () => OK,
    fd_filestat_get(fd: number, at: number) {
      if (fd <= ROOT) return writeStat(at, fd < ROOT ? CHARACTERS : FOLDER, 0);
      const file = open.get(fd);
      return file ? writeStat(at, REGULAR, file.size()) : BADF;
    },
    path_filestat_get(_folder: number, _flags: number, path: number, length: number, at: number) {
      const name = text(path, length);
      if (files.isFolder(name)) return writeStat(at, FOLDER, 0);
      const file = files.input(name) ?? files.output(name);
      return file ? writeStat(at, REGULAR, file.size) : NOENT;
    },
    path_open(...given: (number | bigint)[]) {
      const [, , path = 0, length = 0, flags = 0, , , , at = 0] = given.map(Number);
      const name = text(path, length);
      if (flags & DIRECTORY || files.isFolder(name)) return NOTSUP;
      const file = openPath(name, flags);
      if (typeof file === "number") return file;
      open.set(next, file);
      view().setUint32(at, next++, true);
      return OK;
    },
    fd_close: (fd: number) => (open.delete(fd) ? OK : BADF),
    fd_read(fd: number, list: number, count: number, at: number) {
      const file = open.get(fd);
      if (!file) return BADF;
      let total = 0;
      for (const target of vectors(list, count)) {
        const end = Math.min(file.size(), file.at + target.length);
        if (end <= file.at) break;
        target.set(file.read(file.at, end));
        total += end - file.at;
        file.at = end;
      }
      view().setUint32(at, total, true);
      return OK;
    },
    fd_write(fd: number, list: number, count: number, at: number) {
      const file = open.get(fd);
      if (fd >= ROOT && !file?.output) return BADF;
      let total = 0;
      for (const source of vectors(list, count)) {
        if (file?.output) {
          file.output.write(file.at, source);
          file.at += source.length;
        } else print(source);
        total += source.length;
      }
      view().setUint32(at, total, true);
      return OK;
    },
    fd_seek(fd: number, offset: bigint, whence: number, at: number) {
      const file = open.get(fd);
      if (!file) return BADF;
      const from = { [FROM_START]: 0, [FROM_HERE]: file.at, [FROM_END]: file.size() }[whence];
      const target = (from ?? Number.NaN) + Number(offset);
      if (!(target >= 0)) return INVAL;
      file.at = target;
      view().setBigUint64(at, BigInt(target), true);
      return OK;
    },
    fd_readdir: () => NOTSUP,
    path_remove_directory: () => NOTSUP,
    path_create_directory(_folder: number, path: number, length: number) {
      const name = text(path, length);
      if (files.isFolder(name)) return EXIST;
      files.makeFolder(name);
      return OK;
    },
    path_rename(...given: number[]) {
      const [, path = 0, length = 0, , toPath = 0, toLength = 0] = given;
      return files.rename(text(path, length), text(toPath, toLength)) ? OK : NOENT;
    },
    path_unlink_file: (_folder: number, path: number, length: number) =>
      files.remove(text(path, length)) ? OK : NOENT,
  };
}
