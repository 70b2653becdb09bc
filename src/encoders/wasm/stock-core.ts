import { MediaError } from "../../media/errors.ts";
import { MIB } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import { PageMiss, type SyncFile } from "./core-files.ts";
import {
  CORE_NAMES,
  type CoreFileSystem,
  type CoreImports,
  type CreateCore,
  type Instantiate,
  isExit,
  startCore,
} from "./core-module.ts";

export interface WasmCoreOptions {
  /** The default export of the stock `ffmpeg-core.js`. */
  createCore: CreateCore;
  /** Instantiates the stock `ffmpeg-core.wasm`. */
  instantiate: Instantiate;
  /** Limit in bytes on heap, input and output together. */
  memory: number;
  /** Receives each line that a run prints, while it runs. */
  onLine?: (line: string) => void;
  /** Receives unused memory; by default the garbage collector reclaims it. */
  freeBuffer?: (bytes: Uint8Array<ArrayBuffer>) => void;
}

export interface RunResult {
  /** Exit code; 0 on success. */
  code: number;
  /** The last lines it printed, without URLs. */
  log: readonly string[];
}

export interface WrittenFile {
  /** Path relative to the folder passed to `take`. */
  name: string;
  bytes: Uint8Array;
  /** Precedes `bytes` if the file was too large to stay in memory. */
  front?: Blob;
}

/** An ffmpeg instance for one job. */
export interface WasmCore {
  /** Bytes of the heap, which only grows. */
  readonly heap: number;
  /** Mounts a file under a path such as `/in/input` without copying it. */
  mount(path: string, file: SyncFile): void;
  /**
   * Runs ffmpeg. Throws `out_of_memory`, `encode_failed` when it crashes, or {@link PageMiss}; after a throw, the core
   * must not be used again.
   */
  exec(args: readonly string[]): RunResult;
  /** Runs ffprobe and returns its JSON report, or null when it cannot read the file. Throws as `exec` does. */
  ffprobe(args: readonly string[]): { report: Record<string, unknown> | null; log: readonly string[] };
  makeFolder(path: string): void;
  /** Passes a file's bytes on as they are written; absent when the core keeps all output. */
  pour?(path: string, onBytes: (bytes: Uint8Array) => void): void;
  /** Removes the files below a folder from the core and returns them. */
  take(folder: string): WrittenFile[];
}

// The MJPEG and VP9 encoders need 80 to 95 KiB of stack (measured by painting it); the stock core has 64 and would overwrite data.
const STACK = MIB;
const CANARY = 1024;
const CANARY_BYTE = 0xa5;
const REPORT = "/probe.json";

/** Starts a fresh core: the unmodified npm package with its own stack, a memory limit and no network. */
export async function createWasmCore(options: WasmCoreOptions): Promise<WasmCore> {
  const bound = createMemoryBound(options.memory);
  const { core, exports } = await startCore(options.createCore, (imports) => {
    bound.guardImports(imports);
    closeNetwork(imports);
    return options.instantiate(imports);
  });
  const memory = exports[CORE_NAMES.exports.memory] as WebAssembly.Memory;
  const restoreStack = exports[CORE_NAMES.exports.stackRestore] as (pointer: number) => void;
  bound.guardMemory(memory);
  bound.guardFiles(core.FS, options.freeBuffer);

  const stack = core._malloc(STACK);
  const top = (stack + STACK) & ~15;
  const canary = () => new Uint8Array(memory.buffer, stack, CANARY);
  canary().fill(CANARY_BYTE);
  let broken = false;

  function run(tool: "_ffmpeg" | "_ffprobe", args: readonly string[]): RunResult {
    if (broken) throw errors.coreUnusable();
    const log = createRunLog();
    core.setLogger(({ message }) => {
      log.add(message);
      options.onLine?.(message);
    });
    core.reset();
    restoreStack(top);
    broken = true;
    try {
      core[tool](args.length, core.stringsToPtr(args));
    } catch (thrown) {
      if (thrown instanceof MediaError || thrown instanceof PageMiss) throw thrown;
      if (!isExit(thrown)) throw errors.coreCrashed({ summary: log.summary(), cause: thrown });
    }
    if (!canary().every((byte) => byte === CANARY_BYTE)) {
      throw errors.coreCrashed({ summary: log.summary(), cause: "stack" });
    }
    broken = false;
    return { code: core.ret, log: log.lines };
  }

  return {
    get heap() {
      return bound.heap;
    },
    mount(path, file) {
      bound.charge(file.loadedBytes);
      mountFile(core.FS, path, file);
    },
    exec(args) {
      const result = run("_ffmpeg", [...core.DEFAULT_ARGS, "-hide_banner", ...args]);
      if (result.code === -1) {
        throw errors.coreCrashed({ summary: result.log.at(-1) ?? "", cause: "no exit code" });
      }
      return result;
    },
    // ffprobe always exits with -1, so the report decides.
    ffprobe(args) {
      const { log } = run("_ffprobe", [
        ...core.DEFAULT_ARGS_FFPROBE,
        "-hide_banner",
        "-of",
        "json",
        "-o",
        REPORT,
        ...args,
      ]);
      const report = parseReport(takeFile(core.FS, REPORT));
      return { report, log };
    },
    makeFolder: (path) => core.FS.mkdir(path),
    take(folder) {
      return takeFiles(core.FS, folder).map(({ name, bytes, capacity }) => {
        bound.charge(-capacity);
        return { name, bytes };
      });
    },
  };
}

function closeNetwork(imports: Parameters<Instantiate>[0]): void {
  const EACCES = 2;
  for (const group of Object.values(imports)) {
    if (CORE_NAMES.imports.socket in group) group[CORE_NAMES.imports.socket] = () => -EACCES;
  }
}

function parseReport(file: { bytes: Uint8Array }): Record<string, unknown> | null {
  try {
    const report = JSON.parse(new TextDecoder().decode(file.bytes)) as Record<string, unknown>;
    return Object.keys(report).length > 0 ? report : null;
  } catch {
    return null;
  }
}

/** A file moved out of the core's memory file system. */
export interface MovedFile {
  bytes: Uint8Array;
  /** Bytes that the core had allocated for it; may exceed the file's size. */
  capacity: number;
}

/** Mounts a file under a path such as `/in/input`, whose folder must be new, without copying it. */
export function mountFile(files: CoreFileSystem, path: string, file: SyncFile): void {
  const cut = path.lastIndexOf("/");
  const [folder, name] = [path.slice(0, cut), path.slice(cut + 1)];
  const { WORKERFS } = files.filesystems;
  WORKERFS.reader = { readAsArrayBuffer: (slice: { read(): ArrayBuffer }) => slice.read() };
  // The core copies each read before the next, so all share one buffer.
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
export function takeFiles(files: CoreFileSystem, folder: string): (MovedFile & { name: string })[] {
  return listFiles(files, folder).map((path) => ({
    name: path.slice(folder.length + 1),
    ...takeFile(files, path),
  }));
}

/** Moves a file out of a core without copying, which would double its memory. A missing file counts as empty. */
function takeFile(files: CoreFileSystem, path: string): MovedFile {
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

/** A limit in bytes on a job's wasm heap, input pages and output files together. */
export interface MemoryBound {
  /** Bytes of the wasm heap, which never shrinks. */
  readonly heap: number;
  /** Adds to the bytes in use (negative: releases them). Throws `out_of_memory` beyond the limit. */
  charge(bytes: number): void;
  /** Enforces the limit on requests of the wasm to grow its heap; call before instantiation. */
  guardImports(imports: CoreImports): void;
  /** Enforces the limit when the glue grows the heap; call after instantiation. */
  guardMemory(memory: WebAssembly.Memory): void;
  /** Enforces the limit on files written inside the core; `freeBuffer` receives each buffer that a file has outgrown. */
  guardFiles(files: CoreFileSystem, freeBuffer?: (bytes: Uint8Array<ArrayBuffer>) => void): void;
}

const PAGE = 65_536;
const STEP = MIB;

/** Creates a limit of `limit` bytes. A job that would exceed it fails with `out_of_memory` before it allocates. */
function createMemoryBound(limit: number): MemoryBound {
  let charged = 0;
  let requestedHeap = 0;
  let memory: WebAssembly.Memory | undefined;
  const heap = () => memory?.buffer.byteLength ?? 0;

  function check(heapBytes: number): void {
    if (heapBytes + charged > limit) throw errors.memoryExceeded({ maxBytes: limit });
  }

  return {
    get heap() {
      return heap();
    },
    charge(bytes) {
      charged += bytes;
      if (bytes > 0) check(heap());
    },
    guardImports(imports) {
      const name = CORE_NAMES.imports.resizeHeap;
      for (const group of Object.values(imports)) {
        const resize = group[name];
        if (!resize) continue;
        // Much C code does not survive a failed malloc.
        group[name] = (bytes = 0) => {
          requestedHeap = bytes >>> 0;
          check(requestedHeap);
          return resize(bytes);
        };
      }
    },
    guardMemory(wasmMemory) {
      memory = wasmMemory;
      // The glue requests a fifth more than it needs, which would be wasted here.
      const grow = WebAssembly.Memory.prototype.grow.bind(wasmMemory);
      wasmMemory.grow = (pages) => {
        const step = Math.min(requestedHeap + STEP, limit - charged) - heap();
        return grow(Math.min(pages, Math.max(1, Math.ceil(step / PAGE))));
      };
    },
    guardFiles(files, freeBuffer = () => {}) {
      const operations = files.filesystems.MEMFS.ops_table.file.stream;
      const { write } = operations;
      operations.write = (stream, buffer, offset, length, position, canOwn) => {
        const { node } = stream;
        const before = node.contents instanceof Uint8Array ? node.contents : null;
        const capacity = before?.byteLength ?? 0;
        if (position + length > capacity) this.charge(grownCapacity(capacity, position + length) - capacity);
        const written = write(stream, buffer, offset, length, position, canOwn);
        if (before && node.contents !== before) freeBuffer(before as Uint8Array<ArrayBuffer>);
        return written;
      };
    },
  };
}

// The core's memory file system doubles a file's buffer up to 1 MiB, then adds an eighth.
function grownCapacity(capacity: number, size: number): number {
  return Math.max(size, Math.floor(capacity * (capacity < MIB ? 2 : 1.125)));
}

const MAX_LINES = 20;

const NOISE =
  /^(Aborted\(|Splitting the commandline|Finished splitting|Reading option |Parsing a group|Successfully parsed|Applying option |Opening an (input|output) file|Successfully opened the file| *Last message repeated| *$)/;

const STATUS = /^(frame|size)=/;

/** ffmpeg's last lines. */
export interface RunLog {
  add(line: string): void;
  /** The last lines of the log, up to 20, oldest first and without URLs. */
  readonly lines: readonly string[];
  /** The lines about the failure as one short clause; empty when there are none. */
  summary(): string;
}

export function createRunLog(): RunLog {
  const lines: string[] = [];
  return {
    add(text) {
      const line = text.split("\r").findLast((state) => state !== "") ?? "";
      if (NOISE.test(line)) return;
      if (STATUS.test(line) && STATUS.test(lines.at(-1) ?? "")) lines.pop();
      lines.push(clean(line));
      if (lines.length > MAX_LINES) lines.shift();
    },
    lines,
    summary() {
      const relevant = lines.filter((line) => !STATUS.test(line) && !line.startsWith(" "));
      return relevant.slice(-2).join("; ").slice(0, 300);
    },
  };
}

// URLs may contain secrets.
function clean(line: string): string {
  return line
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, "(URL)")
    .replace(/^\[([^\]@]+) @ 0x[0-9a-f]+\]/, "[$1]")
    .slice(0, 300);
}
