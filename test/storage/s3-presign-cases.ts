import { describe, expect, test, vi } from "vitest";
import { presignS3 } from "../../src/storage/s3/s3-sign.ts";
import { bytes, ceph, open } from "./s3-lab.ts";

describe("a presigned URL", () => {
  const sign = (method: "GET" | "PUT", key: string, headers = {}, seconds = 60) =>
    presignS3(ceph.connection, "contract", { method, key, headers }, seconds);

  test("works without a key, only with the method, type and size that it binds", async () => {
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

  test("expires", async () => {
    await open().write("signed/late", bytes(3), "video/mp4");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 60_000 });
    const [good, late] = await Promise.all(
      [120, 30].map((seconds) => sign("GET", "signed/late", {}, seconds)),
    ).finally(() => vi.useRealTimers());
    expect([(await fetch(good ?? "")).status, (await fetch(late ?? "")).status]).toEqual([200, 403]);
  });

  test("can set the file name of a download", async () => {
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
