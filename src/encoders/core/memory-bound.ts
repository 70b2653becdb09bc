import { MediaError } from "../../core/errors.ts";
import { MIB } from "../../util/bytes.ts";
import { CORE_NAMES, type CoreFileSystem, type CoreImports } from "./core-module.ts";

/** A limit in bytes on everything that a job holds: the wasm heap, the input pages and the files it writes. */
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
export function createMemoryBound(limit: number): MemoryBound {
  let charged = 0;
  let wanted = 0;
  let memory: WebAssembly.Memory | undefined;
  const heap = () => memory?.buffer.byteLength ?? 0;

  function check(heapBytes: number): void {
    if (heapBytes + charged <= limit) return;
    const message = `The work needs more memory than the ${Math.round(limit / MIB)} MB that this encoder has.`;
    throw new MediaError("out_of_memory", message);
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
        // Throw, because much of the C code does not survive a failed malloc.
        group[name] = (requested = 0) => {
          wanted = requested >>> 0;
          check(wanted);
          return resize(requested);
        };
      }
    },
    guardMemory(wasmMemory) {
      memory = wasmMemory;
      // The glue asks for a fifth more than it needs each time, which would go to waste here.
      const grow = WebAssembly.Memory.prototype.grow.bind(wasmMemory);
      wasmMemory.grow = (pages) => {
        const step = Math.min(wanted + STEP, limit - charged) - heap();
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
        if (position + length > capacity) this.charge(grownTo(capacity, position + length) - capacity);
        const written = write(stream, buffer, offset, length, position, canOwn);
        if (before && node.contents !== before) freeBuffer(before as Uint8Array<ArrayBuffer>);
        return written;
      };
    },
  };
}

// How the core's memory file system grows a file: it doubles up to 1 MiB, then adds an eighth.
function grownTo(capacity: number, needed: number): number {
  return Math.max(needed, Math.floor(capacity * (capacity < MIB ? 2 : 1.125)));
}
