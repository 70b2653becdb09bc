import type { ByteRange } from "../../core/ports.ts";
import { MIB } from "../../util/bytes.ts";

/** The objects that a sparse file is kept in. */
export interface ObjectStore {
  /** Lists the keys that start with the prefix. */
  list(prefix: string): Promise<string[]>;
  /** Reads a range of an object; null when there is none. */
  read(key: string, range: ByteRange): Promise<Uint8Array | null>;
  write(key: string, bytes: Uint8Array): Promise<void>;
}

/** The parts of one file that are kept, each an object whose name says where it belongs. */
export interface Extents {
  /** Lists what is kept of a stretch. */
  list(stretch: number): Promise<ByteRange[]>;
  /** Reads a range of a kept extent; null when it is gone. */
  read(extent: ByteRange, range: ByteRange): Promise<Uint8Array | null>;
  /** Keeps bytes that lie within one stretch. */
  write(extent: ByteRange, bytes: Uint8Array): Promise<void>;
}

/** Bytes of a stretch: the unit in which a file is listed, and the most that one object holds. */
export const STRETCH_BYTES = 4 * MIB;

/** Returns the number of the stretch that a byte lies in. */
export function stretchAt(offset: number): number {
  return Math.floor(offset / STRETCH_BYTES);
}

/** Keeps the extents of one file below a key prefix. */
export function createExtents(objects: ObjectStore, prefix: string): Extents {
  const folder = (stretch: number) => `${prefix}${String(stretch).padStart(6, "0")}/`;
  const keyOf = ({ start, end }: ByteRange) => `${folder(stretchAt(start))}${start}-${end}`;
  return {
    async list(stretch) {
      const keys = await objects.list(folder(stretch));
      return keys.flatMap((key) => {
        const [, start, end] = /\/(\d+)-(\d+)$/.exec(key) ?? [];
        return start === undefined ? [] : [{ start: Number(start), end: Number(end) }];
      });
    },
    read: (extent, { start, end }) =>
      objects.read(keyOf(extent), { start: start - extent.start, end: end - extent.start }),
    write: (extent, bytes) => objects.write(keyOf(extent), bytes),
  };
}
