import type { R2Bucket, R2MultipartUpload, R2Object, R2UploadedPart } from "@cloudflare/workers-types";
import { MediaError } from "../../src/media/errors.ts";
import type { ByteRange, Storage, StoredInfo, StoredObject } from "../../src/runs/ports.ts";
import { createPartReader } from "../../src/storage/byte-source.ts";
import type { ObjectStore } from "../../src/storage/pinned.ts";
import { requirePrefix, streamOf } from "../../src/storage/storage.ts";
import { retry } from "../../src/util/async.ts";
import { MIB } from "../../src/util/bytes.ts";
import * as errors from "../errors.ts";

// R2's parts have at least 5 MiB and equal sizes, except the last. Three in memory stay far below an isolate's 128 MB.
const PART_BYTES = 5 * MIB;
const PARTS_AT_ONCE = 2;
const PART_ATTEMPTS = 3;
/** How many objects one call can delete. */
export const KEYS_AT_ONCE = 1000;

/** Creates storage in an R2 bucket. Uploads streams of any length in parts, in constant memory. */
export function createR2Storage(bucket: R2Bucket): Storage {
  return {
    async read(key, range) {
      if (!range) return toStored(await reading(() => bucket.get(key)));
      if (range.end <= range.start) return empty(await reading(() => bucket.head(key)));
      try {
        return toStored(await reading(() => bucket.get(key, { range: toR2Range(range) })));
      } catch (thrown) {
        // R2 rejects a range that starts beyond the end, with an error that cannot be recognized reliably.
        const object = await reading(() => bucket.head(key));
        if (object && range.start < object.size) throw thrown;
        return empty(object);
      }
    },
    async head(key) {
      const object = await reading(() => bucket.head(key));
      return object ? infoOf(object) : null;
    },
    async write(key, body, mime) {
      const options = { httpMetadata: { contentType: mime } };
      const parts = createPartReader(body instanceof Uint8Array ? streamOf(body) : body, PART_BYTES);
      try {
        const first = await parts.next();
        if (first.last) return infoOf(await guarded(() => bucket.put(key, first.bytes, options)));
        const upload = await guarded(() => bucket.createMultipartUpload(key, options));
        return infoOf(await writeParts(upload, first.bytes, parts));
      } catch (thrown) {
        await parts.cancel(thrown);
        throw thrown;
      }
    },
    async clear(prefix) {
      requirePrefix(prefix);
      for (;;) {
        const { objects } = await bucket.list({ prefix, limit: KEYS_AT_ONCE });
        if (objects.length === 0) return;
        await bucket.delete(objects.map((object) => object.key));
      }
    },
  };
}

type PartReader = ReturnType<typeof createPartReader>;

async function writeParts(
  upload: R2MultipartUpload,
  first: Uint8Array,
  parts: PartReader,
): Promise<R2Object> {
  const uploaded: R2UploadedPart[] = [];
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const start = (number: number, bytes: Uint8Array) => {
    const run = uploadPart(upload, number, bytes)
      .then((part) => {
        uploaded[number - 1] = part;
        parts.recycle(bytes);
      })
      .catch((thrown) => void failures.push(thrown))
      .finally(() => running.delete(run));
    running.add(run);
  };
  try {
    start(1, first);
    for (let number = 2, last = false; !last; number++) {
      if (running.size >= PARTS_AT_ONCE) await Promise.race(running);
      if (failures.length > 0) break;
      const part = await parts.next();
      last = part.last;
      if (part.bytes.length > 0) start(number, part.bytes);
    }
    await Promise.all(running);
    if (failures.length > 0) throw failures[0];
    return await guarded(() => upload.complete(uploaded));
  } catch (thrown) {
    await Promise.all(running);
    await upload.abort().catch(() => {});
    throw thrown;
  }
}

function uploadPart(upload: R2MultipartUpload, number: number, bytes: Uint8Array) {
  return retry(() => guarded(() => upload.uploadPart(number, bytes)), {
    tries: PART_ATTEMPTS,
    pauseMs: (tried) => 200 * tried,
    helps: (thrown) => thrown instanceof MediaError && thrown.retryable,
  });
}

async function reading<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw errors.storageUnreadable({ cause });
  }
}

/** Runs a write to R2; its failure becomes `storage_full` or `upload_failed`. */
async function guarded<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    if (isFull(cause)) throw errors.storageFull({ cause });
    throw errors.storageUnwritable({ cause });
  }
}

/** Whether a write to R2 failed because the storage is full. */
export function isFull(thrown: unknown): boolean {
  return /SQLITE_FULL|ENOSPC|no space|disk is full|quota/i.test(String(thrown));
}

function toR2Range({ start, end }: ByteRange) {
  return { offset: start, length: end - start };
}

function empty(object: R2Object | null): StoredObject | null {
  return object ? { ...infoOf(object), body: streamOf(new Uint8Array(0)) } : null;
}

function toStored(object: Awaited<ReturnType<R2Bucket["get"]>>): StoredObject | null {
  if (!object) return null;
  return { ...infoOf(object), body: object.body as unknown as ReadableStream<Uint8Array> };
}

function infoOf({ size, etag, httpMetadata }: R2Object): StoredInfo {
  return { size, etag, mime: httpMetadata?.contentType ?? "application/octet-stream" };
}

/** Creates a store of small objects in an R2 bucket, each read and written as a whole. */
export function createR2Objects(bucket: R2Bucket): ObjectStore {
  return {
    async list(prefix) {
      const { objects } = await bucket.list({ prefix });
      return objects.map(({ key }) => key);
    },
    async read(key, { start, end }) {
      const object = await bucket.get(key, { range: { offset: start, length: end - start } });
      return object && new Uint8Array(await object.arrayBuffer());
    },
    async write(key, bytes) {
      await bucket.put(key, bytes);
    },
  };
}
