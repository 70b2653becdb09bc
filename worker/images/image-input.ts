import type { ByteReader, Storage } from "../../src/runs/ports.ts";
import { storageReader } from "../../src/storage/readers.ts";
import { KIB, MIB } from "../../src/util/bytes.ts";

/** A picture to read. */
export interface ImageInput {
  reader: ByteReader;
  /** All of its bytes; null where they are more than a Worker holds. */
  bytes: Uint8Array | null;
}

/** Memory that a picture takes on its way to storage and from there: parts that are written at the same time, and the next. */
export const PASSING_BYTES = 16 * MIB;

// The native encoder is sent slices, of which none is read twice.
const CACHE = { ahead: 128 * KIB, most: MIB, keep: MIB };

/** Returns a picture in memory. */
export function heldInput(bytes: Uint8Array): ImageInput {
  const read = async ({ start, end }: { start: number; end: number }) => bytes.subarray(start, end);
  return { reader: { size: bytes.length, read }, bytes };
}

/** Returns a picture in storage. */
export async function storedInput(storage: Storage, key: string): Promise<ImageInput> {
  return { reader: await storageReader(storage, key, CACHE), bytes: null };
}

/** The bytes that were read of a stream, and then the others. */
export function rejoin(
  read: readonly Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  const ready = [...read];
  return new ReadableStream(
    {
      async pull(controller) {
        const first = ready.shift();
        const { done, value } = first ? { done: false, value: first } : await reader.read();
        if (done || !value) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
