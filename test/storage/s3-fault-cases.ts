import { describe, expect, test } from "vitest";
import type { S3Options } from "../../src/storage/s3/s3.ts";
import type { Fault } from "../s3/proxy.ts";
import { bytes, ceph, fault, faulty, MB, open, proxy, same, stream } from "./s3-lab.ts";

describe("refusals have clear messages without secrets", () => {
  const secret = "test/secret+key=";
  test.for<{ name: string; options: Partial<S3Options>; read: string; write: string; words: RegExp }>([
    {
      name: "a wrong secret",
      options: { secret_access_key: "wrong/secret+key=" },
      read: "input_forbidden",
      write: "upload_forbidden",
      words: /secret access key/,
    },
    {
      name: "an unknown key id",
      options: { access_key_id: "NOSUCHKEY" },
      read: "input_forbidden",
      write: "upload_forbidden",
      words: /know the access key id/,
    },
    {
      name: "a missing bucket",
      options: { bucket: "no-such-bucket" },
      read: "input_not_found",
      write: "upload_failed",
      words: /There is no bucket no-such-bucket/,
    },
  ])("$name", async ({ options, read, write, words }) => {
    const storage = open(options);
    const actual = [
      await fault(storage.read("one")),
      await fault(storage.write("one", bytes(10), "text/plain")),
      await fault(storage.write("one", stream(bytes(6 * MB)), "text/plain")),
      await fault(storage.clear("one")),
    ];
    expect(actual.map((each) => each?.kind)).toEqual([read, write, write, write]);
    for (const { message = "", retryable } of actual.map((each) => each ?? ({} as never))) {
      expect(message).toMatch(words);
      expect(message).not.toContain(options.secret_access_key ?? secret);
      expect(retryable).toBe(false);
    }
  });

  test("a bucket without access", async () => {
    proxy.fail(() => ({ status: 403, code: "AccessDenied" }));
    expect(await fault(faulty().read("one"))).toMatchObject({ kind: "input_forbidden" });
    expect(await fault(faulty().head("one"))).toMatchObject({ kind: "input_forbidden" });
    expect(await fault(faulty().write("one", bytes(1), "a/b"))).toMatchObject({
      kind: "upload_forbidden",
      message: `${new URL(proxy.url).host} refuses access to the bucket faults: the key has no permission for this, or a signed URL has expired (it answered 403 AccessDenied).`,
    });
  });

  test.for<{ answer: Fault; kind: string; retryable: boolean }>([
    { answer: { status: 507 }, kind: "storage_full", retryable: false },
    { answer: { status: 403, code: "QuotaExceeded" }, kind: "storage_full", retryable: false },
    { answer: { status: 400, code: "ExpiredToken" }, kind: "upload_forbidden", retryable: false },
    {
      answer: { status: 400, code: "AuthorizationHeaderMalformed" },
      kind: "upload_forbidden",
      retryable: false,
    },
    { answer: { status: 301, code: "PermanentRedirect" }, kind: "upload_failed", retryable: false },
    {
      answer: { status: 307, headers: { location: "http://127.0.0.1:1/" } },
      kind: "upload_failed",
      retryable: false,
    },
    { answer: { status: 503, code: "SlowDown" }, kind: "upload_failed", retryable: true },
    { answer: { status: 400, code: "EntityTooLarge" }, kind: "upload_failed", retryable: false },
    { answer: "cut", kind: "upload_failed", retryable: true },
  ])("$answer", async ({ answer, kind, retryable }) => {
    proxy.fail(() => answer);
    const actual = await fault(faulty().write("one", bytes(10), "text/plain"));
    expect(actual).toMatchObject({ kind, retryable });
    expect(proxy.log.length).toBe(retryable ? 5 : 1);
  });
});

test("reports Ceph's refusals to another user and for lack of room, and leaves no parts", async () => {
  const other = { ...(await ceph.addUser("other")), bucket: "contract" };
  await open().write("mine", bytes(10), "text/plain");
  expect(await fault(open(other).read("mine"))).toMatchObject({ kind: "input_forbidden" });
  for (const body of [bytes(10), stream(bytes(6 * MB))])
    expect(await fault(open(other).write("theirs", body, "a/b"))).toEqual({
      kind: "upload_forbidden",
      message: expect.stringContaining("(it answered 403 AccessDenied)"),
      retryable: false,
    });
  await ceph.createBucket("small");
  // Room for less than two parts.
  await ceph.limit(6e6);
  try {
    for (const [size, key] of [
      [27 * MB, "in the middle"],
      [5 * MB - 1, "at once"],
    ] as const) {
      if (size < 6e6) await open({ bucket: "small" }).write("first", bytes(4 * MB), "a/b");
      expect(await fault(open({ bucket: "small" }).write(key, stream(bytes(size)), "a/b"))).toEqual({
        kind: "storage_full",
        message: expect.stringContaining("has no room left (it answered 403 QuotaExceeded)"),
        retryable: false,
      });
      expect([await open({ bucket: "small" }).head(key), await ceph.unfinished("small")]).toEqual([null, []]);
    }
  } finally {
    await ceph.limit(null);
  }
});

test.for([200, 403])("reads no more of an endless answer of %i than an answer can have", async (endless) => {
  proxy.fail(() => ({ endless }));
  const kind = endless === 200 ? "upload_failed" : "upload_forbidden";
  expect(await fault(faulty({ tries: 1 }).clear("one"))).toMatchObject({ kind });
  expect(proxy.log.map(({ sent }) => sent < 32 * MB)).toEqual([true]);
});

describe("slow storage", () => {
  test("has time in proportion to the body", async () => {
    proxy.fail(() => ({ late_ms: 400 }));
    const options = { timeoutMs: 200, tries: 1 };
    const info = await faulty(options).write("late", bytes(5 * MB - 1), "text/plain");
    expect([info.size, proxy.log.length]).toEqual([5 * MB - 1, 1]);
  });

  test("fails after its attempts if it never answers", async () => {
    proxy.fail(() => "hold");
    expect(await fault(faulty({ timeoutMs: 300, tries: 2 }).write("held", bytes(1), "text/plain"))).toEqual({
      kind: "upload_failed",
      message: `The storage at ${new URL(proxy.url).host} could not be reached.`,
      retryable: true,
    });
    expect(proxy.log.length).toBe(2);
  });
});

test("corrects a clock that is two hours off once, from the service's time", async () => {
  const real = Date.now;
  Date.now = () => real() - 2 * 3_600_000;
  try {
    proxy.fail(null);
    const storage = faulty();
    await storage.write("clock", bytes(10), "text/plain");
    expect(proxy.log.length).toBe(2);
    expect((await storage.head("clock"))?.size).toBe(10);
    expect(proxy.log.length).toBe(3);
    // This one starts with a HEAD, whose answer has only its status to go by.
    expect((await faulty().head("clock"))?.size).toBe(10);
    proxy.fail(() => ({ status: 403, code: "RequestTimeTooSkewed", headers: { date: "" } }));
    expect(await fault(faulty().head("clock"))).toMatchObject({ kind: "input_forbidden" });
  } finally {
    Date.now = real;
  }
});

test("the service rejects corrupted bytes, and they are sent again", async () => {
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
