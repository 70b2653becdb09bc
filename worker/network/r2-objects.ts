import type { R2Bucket } from "@cloudflare/workers-types";
import type { ObjectStore } from "../../src/storage/pinned.ts";

/** Keeps small objects in an R2 bucket, each read and written at once. */
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
