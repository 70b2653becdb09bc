import { beforeEach, describe, expect, test } from "vitest";
import type { Fault, Passed } from "../s3/proxy.ts";
import { bytes, ceph, fault, faulty, MB, proxy, same, stream } from "./s3-lab.ts";

describe("an upload in parts", () => {
  const whole = bytes(21 * MB + 123);
  beforeEach(() => {
    return async () => {
      proxy.fail(null);
      expect(await ceph.unfinished("faults")).toEqual([]);
    };
  });

  test.for([
    { name: "as bytes", streamBodies: false },
    { name: "as a stream of known length", streamBodies: true },
  ] as const)(
    "resends each part $name on its own after 503, 429, a reset midway and a lost answer",
    async ({ streamBodies }) => {
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
      const info = await faulty({ streamBodies }).write("parts", stream(whole), "video/mp4");
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
    },
  );

  test("sends at most four parts at once and keeps no more in memory", async () => {
    let [open, maxOpen, done, pulled, maxBuffered] = [0, 0, 0, 0, 0];
    const slow = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          maxBuffered = Math.max(maxBuffered, pulled - done);
          if (pulled === 12) return controller.close();
          controller.enqueue(bytes(5 * MB, ++pulled));
        },
      },
      { highWaterMark: 0 },
    );
    const count = async (url: string, init: RequestInit) => {
      if (!url.includes("partNumber=")) return fetch(url, init);
      maxOpen = Math.max(maxOpen, ++open);
      const answer = await fetch(url, init);
      open--;
      done++;
      return answer;
    };
    await faulty({ fetch: count }).write("wide", slow, "video/mp4");
    expect(maxOpen).toBe(4);
    expect(maxBuffered).toBeLessThanOrEqual(4);
  });

  test.for<{ name: string; failing: (request: Passed) => Fault }>([
    {
      name: "a refused part",
      failing: ({ part }) => (part === 3 ? { status: 403, code: "AccessDenied" } : null),
    },
    { name: "a part that never arrives", failing: ({ part }) => (part === 2 ? "cut" : null) },
    { name: "a full disk", failing: ({ part }) => (part === 4 ? { status: 507 } : null) },
    {
      name: "a refused completion",
      failing: ({ method, path }) =>
        method === "POST" && path.includes("uploadId") ? { status: 400, code: "InvalidPart" } : null,
    },
  ])("leaves nothing behind after $name", async ({ failing }) => {
    proxy.fail(failing);
    expect(await fault(faulty().write("left", stream(whole), "video/mp4"))).not.toBe(null);
    proxy.fail(null);
    expect(await faulty().head("left")).toBe(null);
  });

  test("survives a lost answer to its completion, and an error with status 200", async () => {
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
