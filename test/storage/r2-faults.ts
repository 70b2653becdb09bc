import assert from "node:assert/strict";
import type { R2Bucket, R2MultipartUpload } from "@cloudflare/workers-types";
import { createR2Storage } from "../../worker/network/r2-storage.ts";
import type { Clause } from "../fixtures/contract.ts";

const MB = 1024 * 1024;
const body = () => new Blob([new Uint8Array(12 * MB)]).stream();

/** The contract of R2 storage when certain calls to the real bucket fail. */
export const R2_FAULTS: Clause<R2Bucket>[] = [
  {
    name: "resends a part that R2 did not accept",
    async check(bucket) {
      const { faulty, calls } = failing(bucket, "uploadPart", [1, 2, 4], "internal error (10001)");
      const info = await createR2Storage(faulty).write("faults/again", body(), "video/mp4");
      assert.equal(info.size, 12 * MB);
      assert.deepEqual(calls(), { uploadPart: 6, complete: 1, abort: 0 });
    },
  },
  {
    name: "gives up and aborts when R2 keeps failing",
    async check(bucket) {
      const { faulty, calls } = failing(bucket, "uploadPart", [2, 3, 4, 5, 6], "internal error (10001)");
      await assert.rejects(createR2Storage(faulty).write("faults/no", body(), "video/mp4"), {
        kind: "upload_failed",
        retryable: true,
      });
      assert.equal(calls().abort, 1);
      assert.equal(await bucket.head("faults/no"), null);
    },
  },
  {
    name: "reports a full store without retrying",
    async check(bucket) {
      const { faulty, calls } = failing(bucket, "uploadPart", [1, 2, 3], "SQLITE_FULL: no space left");
      await assert.rejects(createR2Storage(faulty).write("faults/full", body(), "video/mp4"), {
        kind: "storage_full",
        retryable: false,
      });
      assert.deepEqual([calls().abort, calls().complete], [1, 0]);
    },
  },
  {
    name: "reports a failed read as retryable",
    async check(bucket) {
      const storage = createR2Storage({
        get: () => Promise.reject(new Error("internal error (10001)")),
        head: (key: string) => bucket.head(key),
      } as unknown as R2Bucket);
      await createR2Storage(bucket).write("faults/there", new Uint8Array(10), "video/mp4");
      for (const range of [undefined, { start: 0, end: 5 }]) {
        await assert.rejects(async () => storage.read("faults/there", range), {
          ...{ kind: "input_unreachable", retryable: true },
          message: "Storage did not return the bytes.",
        });
      }
    },
  },
  {
    name: "aborts when completing the upload fails",
    async check(bucket) {
      const { faulty, calls } = failing(bucket, "complete", [1], "internal error (10001)");
      await assert.rejects(createR2Storage(faulty).write("faults/end", body(), "video/mp4"), {
        kind: "upload_failed",
      });
      assert.equal(calls().abort, 1);
      assert.equal(await bucket.head("faults/end"), null);
    },
  },
];

// The real bucket, except that the calls of one method with these numbers (from 1) fail before they reach it.
function failing(bucket: R2Bucket, method: "uploadPart" | "complete", numbers: number[], message: string) {
  const counts = { uploadPart: 0, complete: 0, abort: 0 };
  const counted = <A extends unknown[], R>(name: keyof typeof counts, call: (...args: A) => Promise<R>) => {
    return async (...args: A) => {
      counts[name]++;
      if (name === method && numbers.includes(counts[name])) throw new Error(message);
      return call(...args);
    };
  };
  const wrap = (upload: R2MultipartUpload) => ({
    ...{ key: upload.key, uploadId: upload.uploadId },
    uploadPart: counted("uploadPart", upload.uploadPart.bind(upload)),
    complete: counted("complete", upload.complete.bind(upload)),
    abort: counted("abort", upload.abort.bind(upload)),
  });
  const faulty = {
    put: bucket.put.bind(bucket),
    async createMultipartUpload(...args: Parameters<R2Bucket["createMultipartUpload"]>) {
      return wrap(await bucket.createMultipartUpload(...args));
    },
  } as unknown as R2Bucket;
  return { faulty, calls: () => counts };
}
