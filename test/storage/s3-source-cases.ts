import { beforeAll, describe, expect, test } from "vitest";
import { openS3 } from "../../src/storage/s3/objects.ts";
import { createS3Signer } from "../../src/storage/s3/s3-sign.ts";
import { readAll } from "../../src/storage/storage.ts";
import { bytes, ceph, fault, faulty, MB, open, proxy } from "./s3-lab.ts";

describe("an object as a source", () => {
  const whole = bytes(3 * MB);
  const openIt = (key: string, connection = {}) => {
    const signer = createS3Signer({ ...ceph.connection, endpoint: proxy.url, ...connection }, "faults");
    return openS3(signer, key, { fetch: (url, init) => fetch(url, init), timeouts: { pauseMs: 5 } });
  };
  beforeAll(() => open({ bucket: "faults" }).write("a source+é.mp4", whole, "video/mp4"));

  test("is read by ranges and whole, even with a wrong clock", async () => {
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

  test("is resumed where it stopped after a broken body or a transient failure", async () => {
    let gets = 0;
    proxy.fail(() => (gets++ === 1 ? "break" : gets === 3 ? { status: 503, code: "SlowDown" } : null));
    const file = await openIt("a source+é.mp4");
    expect(Buffer.compare(await readAll(file.stream()), whole)).toBe(0);
    const ranges = proxy.log.map(({ headers }) => headers.range);
    expect(ranges.length).toBe(4);
    expect(ranges[3]).toMatch(/^bytes=[1-9]\d*-/);
    proxy.fail(() => (gets++ < 8 ? { status: 503, code: "SlowDown" } : null));
    gets = 6;
    const stored = await faulty().read("a source+é.mp4");
    expect(stored && Buffer.compare(await readAll(stored.body), whole)).toBe(0);
    expect(proxy.log.length).toBe(3);
  });

  test("fails with the reason if it cannot be read", async () => {
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
