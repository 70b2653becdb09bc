import { MediaError } from "../../media/errors.ts";
import { MIB } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import {
  createOutput,
  createPassThrough,
  type OutputContents,
  type OutputFile,
  PageMiss,
  type Spill,
  type SyncFile,
} from "./core-files.ts";
import { createRunLog, type WasmCore, type WrittenFile } from "./stock-core.ts";

export interface FastCoreOptions {
  /** The compiled core of this project. */
  module: WebAssembly.Module;
  /** Limit in bytes on heap, input and output together. */
  memory: number;
  /** Receives each line that a run prints, while it runs. */
  onLine?: (line: string) => void;
  /**
   * Returns the memory for a run, with room for {@link FastCoreOptions.memory}; the core fills in its data itself.
   *
   * @default a new one each time
   */
  takeMemory?: () => WebAssembly.Memory;
  /**
   * Moves the blocks of large outputs out of memory, while they are written.
   *
   * @default outputs stay in memory
   */
  spill?: Spill;
  /** Modifies the functions that the core imports, before it is instantiated. */
  guard?: (imports: Record<string, Record<string, unknown>>) => void;
}

/** The fast core with its files. */
export interface FastCore extends WasmCore {
  readonly files: WasiFiles;
}

const PAGE = 65_536;
// Set by core/compile.sh: data, a stack of 5 MiB, and the initial heap.
const INITIAL = 32 * MIB;
// malloc requests single pages, and growing is slow.
const STEP = MIB;

/** Creates a memory for the core that can grow up to a limit in bytes; throws `out_of_memory`. */
export function createFastMemory(limit: number): WebAssembly.Memory {
  const maximum = Math.floor(limit / PAGE);
  if (maximum < INITIAL / PAGE) throw errors.memoryExceeded({ maxBytes: limit });
  try {
    return new WebAssembly.Memory({ initial: INITIAL / PAGE, maximum });
  } catch (cause) {
    throw errors.coreMemoryUnavailable({ cause });
  }
}

/**
 * Creates a core from this project's own build of ffmpeg. Every run has a new instance, so that no state carries over. It has no
 * ffprobe.
 */
export function createFastCore(options: FastCoreOptions): FastCore {
  const { module, memory: limit, onLine = () => {}, guard = () => {} } = options;
  const { takeMemory = () => createFastMemory(limit) } = options;
  let fileBytes = 0;
  let heap = 0;
  const files = createWasiFiles((bytes) => {
    fileBytes += bytes;
    if (bytes > 0) check(heap);
  }, options.spill);

  function check(heapBytes: number): void {
    if (heapBytes + fileBytes > limit) throw errors.memoryExceeded({ maxBytes: limit });
  }

  return {
    get heap() {
      return heap;
    },
    mount(path, file) {
      fileBytes += file.loadedBytes;
      files.mount(path, file);
    },
    makeFolder: (path) => files.makeFolder(path),
    pour: (path, onBytes) => files.pour(path, onBytes),
    take: (folder) => files.take(folder),
    files,
    exec(args) {
      check(INITIAL);
      const memory = takeMemory();
      heap = memory.buffer.byteLength;
      check(heap);
      const log = createRunLog();
      const lines = splitLines((line) => {
        log.add(line);
        onLine(line);
      });
      const wasi = createWasi({
        args: ["ffmpeg", "-nostdin", "-y", "-hide_banner", ...args],
        memory,
        files,
        print: lines.add,
      });
      try {
        const imports = {
          env: { memory },
          framewright: {
            grow(pages: number) {
              check(heap + pages * PAGE);
              const room = Math.floor((limit - fileBytes - heap) / PAGE);
              grow(memory, Math.max(pages, Math.min(STEP / PAGE, room)));
              heap = memory.buffer.byteLength;
            },
          },
          wasi_snapshot_preview1: wasi,
        };
        guard(imports);
        const { exports } = new WebAssembly.Instance(module, imports);
        (exports._start as () => void)();
        lines.end();
        return { code: 0, log: log.lines };
      } catch (thrown) {
        lines.end();
        if (thrown instanceof MediaError || thrown instanceof PageMiss) throw thrown;
        if (thrown instanceof Exit) return { code: thrown.code, log: log.lines };
        throw errors.coreCrashed({ summary: log.summary(), cause: thrown });
      }
    },
    ffprobe() {
      throw errors.probeUnsupported();
    },
  };
}

function grow(memory: WebAssembly.Memory, pages: number): void {
  try {
    memory.grow(pages);
  } catch (cause) {
    throw errors.coreMemoryUnavailable({ cause });
  }
}

function splitLines(onLine: (line: string) => void): { add(bytes: Uint8Array): void; end(): void } {
  const decoder = new TextDecoder();
  let rest = "";
  return {
    add(bytes) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split(/[\r\n]/);
      rest = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    },
    end() {
      if (rest) onLine(rest);
      rest = "";
    },
  };
}

/** Thrown through the core by `proc_exit`. */
export class Exit extends Error {
  readonly code: number;

  constructor(code: number) {
    super();
    this.code = code;
  }
}

/** The host of one run of the core. */
export interface WasiHost {
  args: readonly string[];
  memory: WebAssembly.Memory;
  files: WasiFiles;
  /** Receives the core's output to stdout and stderr. */
  print(bytes: Uint8Array): void;
}

const [OK, BADF, EXIST, INVAL, NOENT, NOTSUP] = [0, 8, 20, 28, 44, 58];
const [CHARACTERS, FOLDER, REGULAR] = [2, 3, 4];
const [CREATE, DIRECTORY, EXCLUSIVE, TRUNCATE] = [1, 2, 4, 8];
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;
const APPEND = 1;
const ROOT = 3;
const [FROM_START, FROM_HERE, FROM_END] = [0, 1, 2];

interface OpenFile {
  size(): number;
  read(start: number, end: number): Uint8Array;
  output: OutputFile | null;
  at: number;
}

/** Creates the imports of a core: only the WASI calls that ffmpeg makes, without network or environment. */
export function createWasi({ args, memory, files, print }: WasiHost): WebAssembly.ModuleImports {
  const access = accessTo(memory);
  const open = new Map<number, OpenFile>();
  return {
    ...processCalls(access, args),
    ...descriptorCalls(access, open, print),
    ...pathCalls(access, open, files),
  };
}

/** Access to the memory of a core, which moves when it grows. */
interface MemoryAccess {
  view(): DataView;
  bytesAt(at: number, length: number): Uint8Array<ArrayBuffer>;
  text(at: number, length: number): string;
  writeStat(at: number, type: number, size: number): number;
}

function accessTo(memory: WasiHost["memory"]): MemoryAccess {
  const view = () => new DataView(memory.buffer);
  const bytesAt = (at: number, length: number) => new Uint8Array(memory.buffer, at >>> 0, length >>> 0);
  const text = (at: number, length: number) => new TextDecoder().decode(bytesAt(at, length));

  function writeStat(at: number, type: number, size: number): number {
    bytesAt(at, 64).fill(0);
    view().setUint8(at + 16, type);
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(size), true);
    return OK;
  }

  return { view, bytesAt, text, writeStat };
}

/** The calls about arguments, time and the end of a run. */
function processCalls({ view, bytesAt }: MemoryAccess, args: readonly string[]) {
  const encoded = args.map((arg) => new TextEncoder().encode(`${arg}\0`));
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
    // ffmpeg sleeps only while it waits for input, which is always available here.
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
  };
}

/** The calls on open files, the root folder and the log. */
function descriptorCalls(
  { view, bytesAt, writeStat }: MemoryAccess,
  open: Map<number, OpenFile>,
  print: WasiHost["print"],
) {
  function* vectors(at: number, count: number): Generator<Uint8Array> {
    for (let index = 0; index < count; index++) {
      const entry = (at >>> 0) + 8 * index;
      yield bytesAt(view().getUint32(entry, true), view().getUint32(entry + 4, true));
    }
  }

  return {
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
  };
}

/** The calls on files by their paths. */
function pathCalls({ view, text, writeStat }: MemoryAccess, open: Map<number, OpenFile>, files: WasiFiles) {
  let next = ROOT + 1;

  function openPath(path: string, flags: number): OpenFile | number {
    const input = files.input(path);
    if (input) {
      if (flags & (CREATE | TRUNCATE)) return EXIST;
      return { size: () => input.size, read: (start, end) => input.read(start, end), output: null, at: 0 };
    }
    const existing = files.output(path);
    if (existing && flags & EXCLUSIVE) return EXIST;
    const output = existing ?? (flags & CREATE ? files.create(path) : null);
    if (!output) return NOENT;
    if (flags & TRUNCATE) output.truncate();
    return { size: () => output.size, read: (start, end) => output.read(start, end), output, at: 0 };
  }

  return {
    path_filestat_get(_folder: number, _flags: number, path: number, length: number, at: number) {
      const name = text(path, length);
      if (files.isFolder(name)) return writeStat(at, FOLDER, 0);
      const file = files.input(name) ?? files.output(name);
      return file ? writeStat(at, REGULAR, file.size) : NOENT;
    },
    path_open(...args: (number | bigint)[]) {
      const [, , path = 0, length = 0, flags = 0, , , , at = 0] = args.map(Number);
      const name = text(path, length);
      if (flags & DIRECTORY || files.isFolder(name)) return NOTSUP;
      const file = openPath(name, flags);
      if (typeof file === "number") return file;
      open.set(next, file);
      view().setUint32(at, next++, true);
      return OK;
    },
    path_remove_directory: () => NOTSUP,
    path_create_directory(_folder: number, path: number, length: number) {
      const name = text(path, length);
      if (files.isFolder(name)) return EXIST;
      files.makeFolder(name);
      return OK;
    },
    path_rename(...args: number[]) {
      const [, path = 0, length = 0, , toPath = 0, toLength = 0] = args;
      return files.rename(text(path, length), text(toPath, toLength)) ? OK : NOENT;
    },
    path_unlink_file: (_folder: number, path: number, length: number) =>
      files.remove(text(path, length)) ? OK : NOENT,
  };
}

/**
 * The files of one core: inputs that the host reads on demand, and outputs. Paths begin at the root, with or without a slash, and may
 * contain `.` and `..`.
 */
interface WasiFiles {
  input(path: string): SyncFile | undefined;
  output(path: string): OutputFile | undefined;
  isFolder(path: string): boolean;
  mount(path: string, file: SyncFile): void;
  /** Removes the inputs below a folder. */
  unmount(folder: string): void;
  makeFolder(path: string): void;
  /** Removes a folder; returns false when it does not exist or is not empty. */
  removeFolder(path: string): boolean;
  /** Returns the names in a folder; null where there is none. */
  list(folder: string): string[] | null;
  /** Creates an output, or returns the existing one; null when its folder does not exist. */
  create(path: string): OutputFile | null;
  /** Passes the bytes of an output on as they are written instead of keeping them. */
  pour(path: string, onBytes: (bytes: Uint8Array) => void): void;
  rename(from: string, to: string): boolean;
  remove(path: string): boolean;
  /** Removes the outputs below a folder and returns them. */
  take(folder: string): WrittenFile[];
}

/** Creates the files of a core; `charge` receives each change of the outputs' bytes in memory. */
export function createWasiFiles(charge: (bytes: number) => void, spill: Spill | null = null): WasiFiles {
  const folders = new Set([""]);
  const inputs = new Map<string, SyncFile>();
  const outputs = new Map<string, OutputFile & { release(): OutputContents }>();
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
    pour: (path, onBytes) => void outputs.set(normalize(path), createPassThrough(onBytes)),
    rename(from, to) {
      const [name, newName] = [normalize(from), normalize(to)];
      const file = outputs.get(name);
      if (!file || !folders.has(parent(newName))) return false;
      outputs.delete(name);
      outputs.get(newName)?.release();
      outputs.set(newName, file);
      return true;
    },
    remove(path) {
      const name = normalize(path);
      outputs.get(name)?.release();
      return outputs.delete(name);
    },
    take(folder) {
      const prefix = `${normalize(folder)}/`;
      const released = [...outputs].filter(([path]) => path.startsWith(prefix));
      return released.map(([path, file]) => {
        outputs.delete(path);
        const { front, bytes } = file.release();
        const name = path.slice(prefix.length);
        return front.length > 0 ? { name, bytes, front: new Blob([...front]) } : { name, bytes };
      });
    },
  };
}

function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}
