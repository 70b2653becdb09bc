import { MIB } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import { SPILL_BLOCK, type Spill, type SyncFile } from "./core-files.ts";
import { freeBuffer } from "./free-buffer.ts";

// ffmpeg reads 32 KiB at a time, and each read from the browser is slow.
const BLOCK = MIB;
const CACHED_BLOCKS = 4;

/**
 * Creates a file of any size that synchronous code in a worker reads block by block; calls `onRead` for each block. The bytes returned
 * stay valid until the next read. A read throws `input_not_found` or `input_unreachable` when the file was removed or changed.
 */
export function createBlobFile(blob: Blob, onRead: () => void): SyncFile {
  const reader = new FileReaderSync();
  const blocks = new Map<number, Uint8Array<ArrayBuffer>>();

  function block(index: number): Uint8Array<ArrayBuffer> {
    const cached = blocks.get(index);
    if (cached) return cached;
    onRead();
    const bytes = read(reader, blob, index * BLOCK, (index + 1) * BLOCK);
    const [oldest] = blocks;
    if (oldest && blocks.size >= CACHED_BLOCKS) {
      blocks.delete(oldest[0]);
      freeBuffer(oldest[1]);
    }
    blocks.set(index, bytes);
    return bytes;
  }

  return {
    size: blob.size,
    loadedBytes: 0,
    read(start, end) {
      const first = Math.floor(start / BLOCK);
      if (end <= (first + 1) * BLOCK)
        return block(first).subarray(start - first * BLOCK, end - first * BLOCK);
      const bytes = new Uint8Array(end - start);
      for (let at = start; at < end; ) {
        const index = Math.floor(at / BLOCK);
        const part = block(index).subarray(at - index * BLOCK, end - index * BLOCK);
        bytes.set(part, at - start);
        at += part.length;
      }
      return bytes;
    },
  };
}

/** Moves blocks into Blobs, which browsers store outside the worker, and on disk when there are many. */
export function createBlobSpill(): Spill {
  const reader = new FileReaderSync();
  return {
    block: SPILL_BLOCK,
    move(bytes) {
      const blob = new Blob([bytes]);
      return { blob, read: () => readBack(reader, blob) };
    },
  };
}

/** Throws `out_of_memory` when the browser had no room for a Blob, which only a read reveals. */
export function checkBlob(blob: Blob): void {
  readBack(new FileReaderSync(), blob.slice(-1));
}

function readBack(reader: FileReaderSync, blob: Blob): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(reader.readAsArrayBuffer(blob));
  } catch (cause) {
    throw errors.outputUnstorable({ cause });
  }
}

function read(reader: FileReaderSync, blob: Blob, start: number, end: number): Uint8Array<ArrayBuffer> {
  const stop = Math.min(end, blob.size);
  try {
    const bytes = new Uint8Array(reader.readAsArrayBuffer(blob.slice(start, stop)));
    if (bytes.length === stop - start) return bytes;
  } catch (cause) {
    const isMissing = cause instanceof DOMException && cause.name === "NotFoundError";
    throw isMissing ? errors.inputMissing({ cause }) : errors.inputChanged({ cause });
  }
  throw errors.inputChanged();
}
