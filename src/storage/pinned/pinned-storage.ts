import type { ByteRange, Storage, StoredInfo } from "../../core/ports.ts";
import type { ByteSource } from "../http/byte-source.ts";
import type { Extents } from "./extents.ts";
import type { Pin } from "./pin.ts";
import { createSparseFile, type FetchTurns, type SparseFile } from "./sparse-file.ts";

/** A pinned source and what is kept of it. */
export interface PinnedSource {
  pin: Pin;
  extents: Extents;
  /** Opens a range of the pinned version; reading rejects with `input_changed` when the source has another by now. */
  open(range: ByteRange): Promise<ByteSource>;
  /** Its turns with other readers; absent where one run alone reads it. */
  turns?: FetchTurns | undefined;
}

export interface PinnedStorageOptions {
  /** Finds the pinned source that stands for an object; null when there is none. */
  find(key: string): Promise<PinnedSource | null>;
  /** Keeps a promise alive that is not awaited. */
  later(work: Promise<unknown>): void;
}

/** Shows pinned sources as objects of a storage; of each, only what is asked for is read, and kept for later reads. */
export function createPinnedStorage(storage: Storage, { find, later }: PinnedStorageOptions): Storage {
  const pins = new Map<string, { pin: Pin; file: SparseFile }>();
  // Known to be objects, so that their pins are not looked for again.
  const plain = new Set<string>();

  const pinned = async (key: string) => {
    const known = pins.get(key);
    if (known || plain.has(key)) return known ?? null;
    const source = await find(key);
    if (!source) return null;
    const { pin } = source;
    const entry = { pin, file: createSparseFile({ ...source, size: pin.size, later }) };
    pins.set(key, entry);
    return entry;
  };
  const note = <T>(key: string, object: T | null): T | null => {
    if (object) plain.add(key);
    return object;
  };

  return {
    async read(key, range) {
      const entry = await pinned(key);
      if (!entry) return note(key, await storage.read(key, range));
      const { pin, file } = entry;
      const end = Math.min(pin.size, range?.end ?? pin.size);
      const start = Math.min(end, range?.start ?? 0);
      const pieces = file.read({ start, end });
      // A source that cannot be read fails here, not in the middle of an answer.
      const first = await pieces.next();
      return { ...infoOf(pin), body: streamPieces(first, pieces) };
    },
    async head(key) {
      const entry = await pinned(key);
      return entry ? infoOf(entry.pin) : note(key, await storage.head(key));
    },
    async prefetch(key, range) {
      const entry = await pinned(key);
      if (entry) await entry.file.prefetch(range);
    },
    async write(key, body, mime) {
      const info = await storage.write(key, body, mime);
      pins.delete(key);
      return info;
    },
    async clear(prefix) {
      for (const known of [pins, plain])
        for (const key of known.keys()) if (key.startsWith(prefix)) known.delete(key);
      await storage.clear(prefix);
    },
  };
}

function infoOf({ size, etag, mime }: Pin): StoredInfo {
  return { size, etag: etag.replaceAll('"', ""), mime: mime ?? "application/octet-stream" };
}

function streamPieces(
  first: IteratorResult<Uint8Array>,
  pieces: AsyncGenerator<Uint8Array>,
): ReadableStream<Uint8Array> {
  let next: IteratorResult<Uint8Array> | null = first;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = next ?? (await pieces.next());
        next = null;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
