import { describe, expect, test } from "vitest";
import { createS3Bucket } from "../../src/storage/s3/bucket.ts";
import { listParts } from "../../src/storage/s3/objects.ts";
import { createS3Signer } from "../../src/storage/s3/s3-sign.ts";
import { putS3File, type UploadMemory } from "../../src/storage/s3/upload.ts";
import type { Fault, Passed } from "../s3/proxy.ts";
import { bytes, ceph, fault, faulty, MB, proxy, same } from "./s3-lab.ts";

describe("an interrupted upload in parts resumes", () => {
  const whole = bytes(17 * MB);
  const put = (key: string, memory: UploadMemory) => {
    const signer = createS3Signer({ ...ceph.connection, endpoint: proxy.url }, "faults");
    const bucket = createS3Bucket(signer, { pauseMs: 5, tries: 2 });
    const body = { size: whole.length, open: async ({ start = 0, end = 0 }) => whole.slice(start, end) };
    const { signal } = new AbortController();
    return putS3File(bucket, key, body, "video/mp4", { signal, memory, partsAtOnce: 1 });
  };
  const remember = () => {
    const values = new Map<string, unknown>();
    const memory: UploadMemory = {
      get: async (name) => values.get(name) ?? null,
      put: async (name, value) => void values.set(name, value),
    };
    return { values, memory };
  };
  const sent = () => proxy.log.filter(({ method }) => method === "PUT").map(({ part }) => part);
  const failing = ({ part }: Passed): Fault => (part === 3 ? { status: 503 } : null);

  test("from the parts already stored", async () => {
    const { values, memory } = remember();
    proxy.fail(failing);
    expect(await fault(put("on", memory))).toMatchObject({ kind: "upload_failed", retryable: true });
    expect(sent()).toEqual([1, 2, 3, 3]);
    // A part whose record was lost counts, too.
    values.delete("part 2");
    proxy.fail(null);
    expect(await put("on", memory)).toMatchObject({ size: whole.length });
    expect(sent()).toEqual([3, 4]);
    await same(faulty(), "on", whole);
    expect(await ceph.unfinished("faults")).toEqual([]);
  });

  test("from the start if the upload is gone, and a refused one leaves no parts", async () => {
    const { values, memory } = remember();
    proxy.fail(failing);
    await fault(put("restart", memory));
    const { upload } = values.get("begun") as { upload: string };
    await ceph.ask("faults", { method: "DELETE", key: "restart", query: { uploadId: upload } });
    const bucket = createS3Bucket(createS3Signer(ceph.connection, "faults"));
    expect(await listParts({ bucket, key: "restart", id: upload })).toBe(null);
    proxy.fail(null);
    await put("restart", memory);
    expect(sent()).toEqual([1, 2, 3, 4]);
    await same(faulty(), "restart", whole);
    proxy.fail(({ part }) => (part === 2 ? { status: 403, code: "AccessDenied" } : null));
    expect(await fault(put("refused", remember().memory))).toMatchObject({ kind: "upload_forbidden" });
    expect(await ceph.unfinished("faults")).toEqual([]);
  });
});
