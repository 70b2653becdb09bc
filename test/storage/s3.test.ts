import { request } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Storage } from "../../src/core/ports.ts";
import { readAll } from "../../src/storage/read-all.ts";
import { createS3Storage, type S3Options } from "../../src/storage/s3.ts";
import { openS3 } from "../../src/storage/s3-input.ts";
import { listParts } from "../../src/storage/s3-multipart.ts";
import { putS3File, type UploadMemory } from "../../src/storage/s3-put-file.ts";
import { createS3Bucket } from "../../src/storage/s3-send.ts";
import { createS3Signer, presignS3 } from "../../src/storage/s3-sign.ts";
import { type Ceph, startCeph } from "../s3/ceph.ts";
import { type Fault, type Passed, type S3Proxy, startProxy } from "../s3/proxy.ts";
import { STORAGE_CONTRACT } from "./contract.ts";

const MB = 2 ** 20;
let ceph: Ceph;
let proxy: S3Proxy;
beforeAll(async () => {
  ceph = await startCeph();
  proxy = await startProxy(ceph.connection.endpoint);
  await Promise.all(["contract", "faults"].map((name) => ceph.createBucket(name)));
});
afterAll(async () => {
  await proxy?.close();
  await ceph?.stop();
});

const open = (options: Partial<S3Options> = {}): Storage =>
  createS3Storage({ ...ceph.connection, bucket: "contract", pause_ms: 5, ...options });
/** By way of the proxy. */
const faulty = (options: Partial<S3Options> = {}): Storage =>
  open({ endpoint: proxy.url, bucket: "faults", ...options });
const bytes = (length: number, seed = 1) =>
  Uint8Array.from({ length }, (_, n) => (Math.imul(n + seed, 2_654_435_761) >>> 13) & 255);
const stream = (whole: Uint8Array) => new Blob([whole as Uint8Array<ArrayBuffer>]).stream();
const same = async (storage: Storage, key: string, whole: Uint8Array) => {
  const stored = await storage.read(key);
  expect(stored && Buffer.compare(await readAll(stored.body), whole)).toBe(0);
};
const textOf = async (storage: Storage, key: string) => {
  const stored = await storage.read(key);
  return stored && new TextDecoder().decode(await readAll(stored.body));
};
const fault = (work: Promise<unknown>) =>
  work.then(
    () => null,
    ({ kind, message, retryable }) => ({ kind, message, retryable }),
  );

test.for(STORAGE_CONTRACT)("Ceph $name", ({ check }) => check(open()));

test("keys may hold what has a meaning in URLs, XML and shells, and none is taken for another", async () => {
  const storage = open();
  const keys = [
    ..."a b|a+b|a%20b|a%2Bb|100%|é|é|日本 語/ü.mp4|x?y=z&a=b#c|par(1)'!*.txt|<a>&quot;|a//b|/lead|tail/|~-._|$,;:@=|new\nline".split(
      "|",
    ),
    "k".repeat(1000),
  ];
  await Promise.all(
    keys.map((key) => storage.write(`odd/${key}`, new TextEncoder().encode(key), "text/plain")),
  );
  for (const key of keys) expect(await textOf(storage, `odd/${key}`)).toBe(key);
  await storage.clear("odd/a+");
  expect(await storage.head("odd/a+b")).toBe(null);
  expect((await storage.head("odd/a b"))?.size).toBe(3);
  await storage.clear("odd/");
  for (const key of keys) expect(await storage.head(`odd/${key}`)).toBe(null);
  for (const key of ["a/../b", "./a", "\ud800", "k".repeat(1025)]) {
    expect(await fault(storage.write(key, bytes(1), "text/plain"))).toMatchObject({ kind: "invalid_output" });
  }
});

test("the bucket may stand in the host's name", async () => {
  const { port } = new URL(ceph.connection.endpoint);
  // Not every machine finds names below localhost.
  const found = (url: string, { method = "GET", headers, body }: RequestInit) =>
    new Promise<Response>((resolve, reject) => {
      const { host, pathname } = new URL(url);
      const all = { ...(headers as Record<string, string>), host };
      const sent = request(
        { hostname: "127.0.0.1", port, path: pathname, method, headers: all },
        (answer) => {
          answer.resume();
          resolve(new Response(null, { status: answer.statusCode ?? 0, headers: answer.headers as never }));
        },
      );
      sent.on("error", reject).end(body);
    });
  const storage = open({ endpoint: `http://localhost:${port}`, force_path_style: false, fetch: found });
  await storage.write("virtual/a b+c", bytes(10), "video/mp4");
  expect(await open().head("virtual/a b+c")).toMatchObject({ size: 10, mime: "video/mp4" });
});

describe("what is refused is told in words, with no secret in them", () => {
  const secret = "test/secret+key=";
  test.for<[string, Partial<S3Options>, string, string, RegExp]>([
    [
      "a wrong secret",
      { secret_access_key: "wrong/secret+key=" },
      "input_forbidden",
      "upload_forbidden",
      /secret access key/,
    ],
    [
      "a wrong key",
      { access_key_id: "NOSUCHKEY" },
      "input_forbidden",
      "upload_forbidden",
      /know the access key id/,
    ],
    [
      "no such bucket",
      { bucket: "no-such-bucket" },
      "input_not_found",
      "upload_failed",
      /There is no bucket no-such-bucket/,
    ],
  ])("%s", async ([, options, read, write, words]) => {
    const storage = open(options);
    const found = [
      await fault(storage.read("one")),
      await fault(storage.write("one", bytes(10), "text/plain")),
      await fault(storage.write("one", stream(bytes(6 * MB)), "text/plain")),
      await fault(storage.clear("one")),
    ];
    expect(found.map((each) => each?.kind)).toEqual([read, write, write, write]);
    for (const { message = "", retryable } of found.map((each) => each ?? ({} as never))) {
      expect(message).toMatch(words);
      expect(message).not.toContain(options.secret_access_key ?? secret);
      expect(retryable).toBe(false);
    }
  });

  test("a bucket of someone else", async () => {
    proxy.fail(() => ({ status: 403, code: "AccessDenied" }));
    expect(await fault(faulty().read("one"))).toMatchObject({ kind: "input_forbidden" });
    expect(await fault(faulty().head("one"))).toMatchObject({ kind: "input_forbidden" });
    expect(await fault(faulty().write("one", bytes(1), "a/b"))).toMatchObject({
      kind: "upload_forbidden",
      message: `${new URL(proxy.url).host} refuses access to the bucket faults: the key does not have the right to do that there, or a signed URL has expired (it answered 403 AccessDenied).`,
    });
  });

  test.for<[Fault, string, boolean]>([
    [{ status: 507 }, "storage_full", false],
    [{ status: 403, code: "QuotaExceeded" }, "storage_full", false],
    [{ status: 400, code: "ExpiredToken" }, "upload_forbidden", false],
    [{ status: 400, code: "AuthorizationHeaderMalformed" }, "upload_forbidden", false],
    [{ status: 301, code: "PermanentRedirect" }, "upload_failed", false],
    [{ status: 307, headers: { location: "http://127.0.0.1:1/" } }, "upload_failed", false],
    [{ status: 503, code: "SlowDown" }, "upload_failed", true],
    [{ status: 400, code: "EntityTooLarge" }, "upload_failed", false],
    ["cut", "upload_failed", true],
  ])("%j", async ([answer, kind, retryable]) => {
    proxy.fail(() => answer);
    const found = await fault(faulty().write("one", bytes(10), "text/plain"));
    expect(found).toMatchObject({ kind, retryable });
    expect(proxy.log.length).toBe(retryable ? 5 : 1);
  });
});

test("a clock that is two hours wrong is set right once, by the service's own", async () => {
  const real = Date.now;
  Date.now = () => real() - 2 * 3_600_000;
  try {
    proxy.fail(null);
    const storage = faulty();
    await storage.write("clock", bytes(10), "text/plain");
    expect(proxy.log.length).toBe(2);
    expect((await storage.head("clock"))?.size).toBe(10);
    expect(proxy.log.length).toBe(3);
    // One that begins with a HEAD, of whose answer only the status is seen.
    expect((await faulty().head("clock"))?.size).toBe(10);
    proxy.fail(() => ({ status: 403, code: "RequestTimeTooSkewed", headers: { date: "" } }));
    expect(await fault(faulty().head("clock"))).toMatchObject({ kind: "input_forbidden" });
  } finally {
    Date.now = real;
  }
});

describe("an upload in parts", () => {
  const whole = bytes(21 * MB + 123);
  beforeEach(() => {
    return async () => {
      proxy.fail(null);
      expect(await ceph.unfinished("faults")).toEqual([]);
    };
  });

  test("sends each part by itself again: after 503, 429, a reset in the middle and an answer that was lost", async () => {
    const tries = new Map<number, number>();
    proxy.fail(({ part }) => {
      if (part === null) return null;
      const count = (tries.get(part) ?? 0) + 1;
      tries.set(part, count);
      if (part === 1 && count <= 3) return { status: 503, code: "SlowDown" };
      if (part === 2 && count === 1) return "cut";
      if (part === 3 && count === 1) return "lose";
      if (part === 4 && count === 1) return { status: 429, headers: { "retry-after": "0" } };
      return null;
    });
    const info = await faulty().write("parts", stream(whole), "video/mp4");
    expect([...tries].sort()).toEqual([
      [1, 4],
      [2, 2],
      [3, 2],
      [4, 2],
      [5, 1],
    ]);
    expect(info).toEqual({
      size: whole.length,
      etag: expect.stringMatching(/^[0-9a-f]{32}-5$/),
      mime: "video/mp4",
    });
    proxy.fail(null);
    await same(faulty(), "parts", whole);
  });

  test("has at most four parts on their way, and keeps no more in memory", async () => {
    let [now, most, done, given, held] = [0, 0, 0, 0, 0];
    const slow = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          held = Math.max(held, given - done);
          if (given === 12) return controller.close();
          controller.enqueue(bytes(5 * MB, ++given));
        },
      },
      { highWaterMark: 0 },
    );
    const count = async (url: string, init: RequestInit) => {
      if (!url.includes("partNumber=")) return fetch(url, init);
      most = Math.max(most, ++now);
      const answer = await fetch(url, init);
      now--;
      done++;
      return answer;
    };
    await faulty({ fetch: count }).write("wide", slow, "video/mp4");
    expect(most).toBe(4);
    expect(held).toBeLessThanOrEqual(4);
  });

  test.for<[string, (request: Passed) => Fault]>([
    ["a part that is refused", ({ part }) => (part === 3 ? { status: 403, code: "AccessDenied" } : null)],
    ["a part that never arrives", ({ part }) => (part === 2 ? "cut" : null)],
    ["a disk that is full", ({ part }) => (part === 4 ? { status: 507 } : null)],
    [
      "an end that is refused",
      ({ method, path }) =>
        method === "POST" && path.includes("uploadId") ? { status: 400, code: "InvalidPart" } : null,
    ],
  ])("leaves nothing behind after %s", async ([, failing]) => {
    proxy.fail(failing);
    expect(await fault(faulty().write("left", stream(whole), "video/mp4"))).not.toBe(null);
    proxy.fail(null);
    expect(await faulty().head("left")).toBe(null);
  });

  test("is whole when the answer to its end was lost, or was a fault in good dress", async () => {
    let ends = 0;
    const is_end = ({ method, path }: Passed) => method === "POST" && path.includes("uploadId");
    proxy.fail((request) => (is_end(request) && ends++ === 0 ? "lose" : null));
    expect((await faulty().write("lost", stream(whole), "video/mp4")).size).toBe(whole.length);
    expect(ends).toBe(2);
    ends = 0;
    proxy.fail((request) =>
      is_end(request) && ends++ === 0 ? { status: 200, code: "InternalError" } : null,
    );
    expect((await faulty().write("dress", stream(whole), "video/mp4")).size).toBe(whole.length);
    expect(ends).toBe(2);
  });
});

test("bytes that change on the way are refused by the service, and sent again", async () => {
  const body = bytes(1000);
  let changed = 0;
  const mangle = async (url: string, init: RequestInit) => {
    if (init.method !== "PUT" || changed++ > 0) return fetch(url, init);
    return fetch(url, { ...init, body: bytes(1000, 2) });
  };
  await open({ fetch: mangle }).write("mangled", body, "video/mp4");
  expect(changed).toBe(2);
  await same(open(), "mangled", body);
});

describe("a presigned URL", () => {
  const sign = (method: "GET" | "PUT", key: string, headers = {}, seconds = 60) =>
    presignS3(ceph.connection, "contract", { method, key, headers }, seconds);

  test("lets in without a key, with the type and size that it binds, and for its time", async () => {
    const key = "signed/a b+ü.mp4";
    const url = await sign("PUT", key, { "content-type": "video/mp4", "content-length": "10" });
    expect(url).not.toContain(ceph.connection.secret_access_key);
    const put = (type: string, length: number) =>
      fetch(url, { method: "PUT", headers: { "content-type": type }, body: bytes(length) });
    expect((await put("text/html", 10)).status).toBe(403);
    expect((await put("video/mp4", 11)).status).toBe(403);
    expect((await put("video/mp4", 10)).status).toBe(200);
    expect(new Uint8Array(await (await fetch(await sign("GET", key))).arrayBuffer())).toEqual(bytes(10));
    expect((await fetch(url)).status).toBe(403);
    const late = new URL(url);
    late.searchParams.set("X-Amz-Date", "20200101T000000Z");
    expect((await fetch(late, { method: "PUT", body: bytes(10) })).status).toBe(403);
  });

  test("may ask for a name of the download", async () => {
    const disposition = `attachment; filename="a b+c.mp4"`;
    await open().write("signed/name", bytes(3), "video/mp4");
    const request = {
      method: "GET",
      key: "signed/name",
      query: { "response-content-disposition": disposition },
    } as const;
    const answer = await fetch(await presignS3(ceph.connection, "contract", request, 60));
    expect(answer.headers.get("content-disposition")).toBe(disposition);
  });
});

describe("a file goes up in parts, and goes on", () => {
  const whole = bytes(17 * MB);
  const put = (key: string, memory: UploadMemory) => {
    const signer = createS3Signer({ ...ceph.connection, endpoint: proxy.url }, "faults");
    const bucket = createS3Bucket(signer, { pause_ms: 5, tries: 2 });
    const body = { size: whole.length, open: async ({ start = 0, end = 0 }) => whole.slice(start, end) };
    const { signal } = new AbortController();
    return putS3File(bucket, key, body, "video/mp4", { signal, memory, parts_at_once: 1 });
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

  test("from the parts that are there", async () => {
    const { values, memory } = remember();
    proxy.fail(failing);
    expect(await fault(put("on", memory))).toMatchObject({ kind: "upload_failed", retryable: true });
    expect(sent()).toEqual([1, 2, 3, 3]);
    // One of which nothing was remembered counts, too.
    values.delete("part 2");
    proxy.fail(null);
    expect(await put("on", memory)).toMatchObject({ size: whole.length });
    expect(sent()).toEqual([3, 4]);
    await same(faulty(), "on", whole);
    expect(await ceph.unfinished("faults")).toEqual([]);
  });

  test("anew where the upload is gone, and not at all where it was refused", async () => {
    const { values, memory } = remember();
    proxy.fail(failing);
    await fault(put("anew", memory));
    const { upload } = values.get("begun") as { upload: string };
    await ceph.ask("faults", { method: "DELETE", key: "anew", query: { uploadId: upload } });
    const bucket = createS3Bucket(createS3Signer(ceph.connection, "faults"));
    expect(await listParts(bucket, "anew", upload)).toBe(null);
    proxy.fail(null);
    await put("anew", memory);
    expect(sent()).toEqual([1, 2, 3, 4]);
    await same(faulty(), "anew", whole);
    proxy.fail(({ part }) => (part === 2 ? { status: 403, code: "AccessDenied" } : null));
    expect(await fault(put("refused", remember().memory))).toMatchObject({ kind: "upload_forbidden" });
    expect(await ceph.unfinished("faults")).toEqual([]);
  });
});

describe("an object as a source", () => {
  const whole = bytes(3 * MB);
  const openIt = (key: string, connection = {}) => {
    const signer = createS3Signer({ ...ceph.connection, endpoint: proxy.url, ...connection }, "faults");
    return openS3(signer, key, { fetch: (url, init) => fetch(url, init), timeouts: { pause_ms: 5 } });
  };
  beforeAll(() => open({ bucket: "faults" }).write("a source+é.mp4", whole, "video/mp4"));

  test("is read by ranges and whole, also with a clock that is wrong", async () => {
    proxy.fail(null);
    const real = Date.now;
    Date.now = () => real() + 3 * 3_600_000;
    try {
      const file = await openIt("a source+é.mp4");
      expect([file.size, file.mime, file.ranges]).toEqual([whole.length, "video/mp4", true]);
      const range = { start: 2 * MB, end: 2 * MB + 10 };
      expect(await file.reader?.read(range)).toEqual(whole.slice(range.start, range.end));
      expect(Buffer.compare(await readAll(file.stream()), whole)).toBe(0);
    } finally {
      Date.now = real;
    }
  });

  test("that cannot be read says why", async () => {
    const kinds = [
      await fault(openIt("none")),
      await fault(openIt("a source+é.mp4", { secret_access_key: "wrong" })),
      await fault(openIt("a source+é.mp4", { access_key_id: "unknown" })),
    ];
    expect(
      kinds.map((each) => [each?.kind, each?.message.match(/wrong secret|access key id|no such/)?.[0]]),
    ).toEqual([
      ["input_not_found", "no such"],
      ["input_forbidden", "wrong secret"],
      ["input_forbidden", "access key id"],
    ]);
  });
});
