import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MediaError } from "../../src/core/errors.ts";
import { readAll } from "../../src/storage/read-all.ts";
import { createS3Storage, type S3Options } from "../../src/storage/s3.ts";
import { putS3File } from "../../src/storage/s3-put-file.ts";
import { createS3Bucket } from "../../src/storage/s3-send.ts";
import { createS3Signer } from "../../src/storage/s3-sign.ts";
import { startWorkerd, type Workerd } from "../fixtures/workerd.ts";
import { STORAGE_CONTRACT } from "./contract.ts";

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd(join(import.meta.dirname, "../s3/workerd/wrangler.toml"));
});
afterAll(() => workerd?.stop());

/** Miniflare's own S3 endpoint for R2: other code than Ceph, with R2's rules. */
const options = (): S3Options => ({
  endpoint: `${workerd.url}/cdn-cgi/local/r2/s3`,
  region: "auto",
  access_key_id: "local-access-key-id",
  secret_access_key: "local-secret-access-key",
  bucket: "s3-test",
});

// A page of a list is the same for all services, and takes long to fill.
const SHORT = STORAGE_CONTRACT.filter(({ name }) => !name.includes("one page of a list"));
// One of each sort.
const FEW = SHORT.filter(({ name }) => /facts|3 to 7|12583257|11534336|prefix|letter/.test(name));

test.for(SHORT)("R2's S3 endpoint $name", ({ check }) => check(createS3Storage(options())));

test.for(FEW)("from within workerd it $name", async ({ name }) => {
  const body = JSON.stringify({ name, options: options() });
  const response = await fetch(workerd.url, { method: "POST", body });
  expect(await response.text()).toBe("kept");
});

test("R2's own codes are understood", async () => {
  const kindOf = async (more: Partial<S3Options>) => {
    // It closes the connection of what it refuses.
    const storage = createS3Storage({ ...options(), ...more, pause_ms: 20 });
    const thrown = await storage.write("one", new Uint8Array(3), "text/plain").catch((error) => error);
    return [(thrown as MediaError).kind, (thrown as MediaError).retryable];
  };
  expect(await kindOf({ secret_access_key: "wrong" })).toEqual(["upload_forbidden", false]);
  expect(await kindOf({ access_key_id: "unknown" })).toEqual(["upload_forbidden", false]);
  expect(await kindOf({ bucket: "no-such-bucket" })).toEqual(["upload_failed", false]);
});

test("where parts cannot be listed, an upload goes on by what was remembered", async () => {
  const values = new Map<string, unknown>();
  const sent: number[] = [];
  let broken = true;
  const bucket = createS3Bucket(createS3Signer(options(), "s3-test"), {
    tries: 1,
    async fetch(url, init) {
      const part = Number(/partNumber=(\d+)/.exec(url)?.[1] ?? 0);
      if (part > 0) sent.push(part);
      if (broken && part === 3) throw new TypeError("The network is gone.");
      return fetch(url, init);
    },
  });
  const whole = Uint8Array.from({ length: 11 * 2 ** 20 }, (_, n) => n >> 16);
  const put = () =>
    putS3File(
      bucket,
      "remembered",
      { size: whole.length, open: async ({ start, end }) => whole.slice(start, end) },
      "video/mp4",
      {
        signal: new AbortController().signal,
        parts_at_once: 1,
        memory: {
          get: async (name) => values.get(name) ?? null,
          put: async (name, value) => void values.set(name, value),
        },
      },
    );
  await expect(put()).rejects.toMatchObject({ kind: "upload_failed", retryable: true });
  broken = false;
  expect((await put()).size).toBe(whole.length);
  expect(sent).toEqual([1, 2, 3, 3]);
  const stored = await createS3Storage(options()).read("remembered", {
    start: 10 * 2 ** 20,
    end: 10 * 2 ** 20 + 2,
  });
  expect(stored && [...(await readAll(stored.body))]).toEqual([160, 160]);
});
