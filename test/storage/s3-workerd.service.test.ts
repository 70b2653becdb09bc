import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { MediaError } from "../../src/media/errors.ts";
import { createS3Bucket } from "../../src/storage/s3/bucket.ts";
import { createS3Storage, type S3Options } from "../../src/storage/s3/s3.ts";
import { createS3Signer, presignS3 } from "../../src/storage/s3/s3-sign.ts";
import { putS3File } from "../../src/storage/s3/upload.ts";
import { readAll } from "../../src/storage/storage.ts";
import { startWorkerd, type Workerd } from "../fixtures/workerd.ts";
import { type Fault, startProxy } from "../s3/proxy.ts";
import { STORAGE_CONTRACT } from "./contract.ts";

let workerd: Workerd;
beforeAll(async () => {
  workerd = await startWorkerd(join(import.meta.dirname, "../s3/workerd/wrangler.toml"));
});
afterAll(() => workerd?.stop());

/** Miniflare's own S3 endpoint for R2: different code from Ceph's, with R2's rules. */
const options = (): S3Options => ({
  endpoint: `${workerd.url}/cdn-cgi/local/r2/s3`,
  region: "auto",
  access_key_id: "local-access-key-id",
  secret_access_key: "local-secret-access-key",
  bucket: "s3-test",
});

// List pages are the same for all services, and filling one takes long.
const SHORT = STORAGE_CONTRACT.filter(({ name }) => !name.includes("one page of a list"));
// One of each type.
const FEW = SHORT.filter(({ name }) => /metadata|3 to 7|12583257|11534336|prefix|any character/.test(name));

test.for(SHORT)("R2's S3 endpoint $name", ({ check }) => check(createS3Storage(options())));

test.for(FEW)("R2's S3 endpoint, called from workerd, $name", async ({ name }) => {
  const body = JSON.stringify({ name, options: options() });
  const response = await fetch(workerd.url, { method: "POST", body });
  expect(await response.text()).toBe("kept");
});

test("recognizes R2's own error codes", async () => {
  const kindOf = async (more: Partial<S3Options>) => {
    // R2 closes the connection of a request that it rejects.
    const storage = createS3Storage({ ...options(), ...more, pauseMs: 20 });
    const thrown = await storage.write("one", new Uint8Array(3), "text/plain").catch((error) => error);
    return [(thrown as MediaError).kind, (thrown as MediaError).retryable];
  };
  expect(await kindOf({ secret_access_key: "wrong" })).toEqual(["upload_forbidden", false]);
  expect(await kindOf({ access_key_id: "unknown" })).toEqual(["upload_forbidden", false]);
  expect(await kindOf({ bucket: "no-such-bucket" })).toEqual(["upload_failed", false]);
});

test("keeps special characters in keys, and reports a wrong clock", async () => {
  const storage = createS3Storage(options());
  const keys = ["a b", "a+b", "a%20b", "100%", "日本 語/ü.mp4", ".hidden", "x?y=z&a=b#c", "par(1)'!*.txt"];
  for (const key of keys) await storage.write(`odd/${key}`, new TextEncoder().encode(key), "text/plain");
  for (const key of keys) {
    const stored = await storage.read(`odd/${key}`);
    expect(stored && new TextDecoder().decode(await readAll(stored.body))).toBe(key);
  }
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 2 * 3_600_000 });
  try {
    // R2 does not send its own time, by which the clock could be corrected.
    const write = createS3Storage(options()).write("late", new Uint8Array(3), "text/plain");
    await expect(write).rejects.toMatchObject({
      kind: "upload_forbidden",
      message: expect.stringContaining("the clock of this machine differs too much"),
    });
  } finally {
    vi.useRealTimers();
  }
});

test("presigned URLs let a page write with the bound type only, and read", async () => {
  const headers = { "content-type": "video/mp4", "content-length": "3" };
  const sign = (method: "PUT" | "GET", seconds: number) =>
    presignS3(
      options(),
      "s3-test",
      { method, key: "page é.mp4", ...(method === "PUT" && { headers }) },
      seconds,
    );
  const put = async (type: string, size: number) =>
    (
      await fetch(await sign("PUT", 60), {
        method: "PUT",
        headers: { "content-type": type },
        body: new Uint8Array(size),
      })
    ).status;
  // R2 closes the connection of a request that it rejects.
  await expect.poll(() => put("video/mp4", 3)).toBe(200);
  expect(await put("text/html", 3)).toBe(403);
  const read = await sign("GET", 60);
  await expect
    .poll(() =>
      fetch(read).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
});

test("resends parts one by one, and leaves nothing of a rejected upload", async () => {
  const proxy = await startProxy(workerd.url);
  try {
    const storage = createS3Storage({
      ...options(),
      endpoint: options().endpoint.replace(workerd.url, proxy.url),
      pauseMs: 20,
    });
    const whole = Uint8Array.from(Buffer.alloc(11 * 2 ** 20, "a part of it "));
    const numbers = new Set<number>();
    const faults: Fault[] = [{ status: 503, code: "SlowDown" }, "cut", "lose"];
    proxy.fail(({ part }) => {
      if (part === null || numbers.has(part)) return null;
      numbers.add(part);
      return faults[part - 1] ?? null;
    });
    expect((await storage.write("again", new Blob([whole]).stream(), "video/mp4")).size).toBe(whole.length);
    const stored = await createS3Storage(options()).read("again");
    expect(stored && Buffer.compare(await readAll(stored.body), whole)).toBe(0);
    expect(proxy.log.filter(({ part }) => part !== null).length).toBe(6);

    proxy.fail(({ part }) => (part === 2 ? { status: 507 } : null));
    const full = storage.write("full", new Blob([whole]).stream(), "video/mp4");
    await expect(full).rejects.toMatchObject({ kind: "storage_full", retryable: false });
    const ends = proxy.log.filter(({ method }) => method === "DELETE");
    expect(ends.map(({ path }) => /uploadId=./.test(path))).toEqual([true]);
    expect(await createS3Storage(options()).head("full")).toBe(null);
  } finally {
    await proxy.close();
  }
});

test("resumes an upload from recorded parts where parts cannot be listed", async () => {
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
        partsAtOnce: 1,
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
