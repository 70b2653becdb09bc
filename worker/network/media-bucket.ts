import type { Storage } from "../../src/runs/ports.ts";
import { createDiskBucket } from "./disk-bucket.ts";
import { createR2Storage } from "./r2-storage.ts";

/** Returns the bucket of media: R2, or the directory that the local service binds in its place. */
export function mediaBucket({ MEDIA, DISK }: Pick<Bindings, "MEDIA" | "DISK">): R2Bucket {
  return DISK ? createDiskBucket(DISK) : MEDIA;
}

/** Returns the storage of media. */
export function mediaStorage(bindings: Pick<Bindings, "MEDIA" | "DISK">): Storage {
  return createR2Storage(mediaBucket(bindings));
}
