import assert from "node:assert/strict";
import type { Storage } from "../../src/runs/ports.ts";
import { readAll, streamOf } from "../../src/storage/storage.ts";
import type { Clause } from "../fixtures/contract.ts";

const MB = 1024 * 1024;

/** The contract of every storage. */
export const STORAGE_CONTRACT: Clause<Storage>[] = [
  {
    name: "returns what was written, with its metadata",
    async check(storage) {
      const written = await storage.write("a/one.txt", encode("hello"), "text/plain");
      assert.deepEqual({ ...written, etag: "" }, { size: 5, mime: "text/plain", etag: "" });
      assert.match(written.etag, /^[^"]+$/);
      assert.deepEqual(await storage.head("a/one.txt"), written);
      const stored = await storage.read("a/one.txt");
      assert.ok(stored);
      assert.equal(decode(await readAll(stored.body)), "hello");
      assert.deepEqual({ size: stored.size, mime: stored.mime, etag: stored.etag }, written);
    },
  },
  {
    name: "returns null for a missing object",
    async check(storage) {
      assert.equal(await storage.read("no/such"), null);
      assert.equal(await storage.read("no/such", { start: 0, end: 4 }), null);
      assert.equal(await storage.read("no/such", { start: 4, end: 4 }), null);
      assert.equal(await storage.head("no/such"), null);
    },
  },
  ...(
    [
      [0, 4, "0123"],
      [3, 7, "3456"],
      [9, 10, "9"],
      [8, 99, "89"],
      [10, 12, ""],
      [50, 60, ""],
      [4, 4, ""],
      [0, 10, "0123456789"],
    ] as const
  ).map(([start, end, expected]) => ({
    name: `reads bytes ${start} to ${end} of ten`,
    async check(storage: Storage) {
      await storage.write("r/digits", encode("0123456789"), "text/plain");
      const stored = await storage.read("r/digits", { start, end });
      assert.ok(stored);
      assert.equal(decode(await readAll(stored.body)), expected);
      assert.deepEqual([stored.size, stored.mime], [10, "text/plain"]);
    },
  })),
  // Around R2's smallest part size, in pieces that divide it and that do not.
  ...(
    [
      [0, 1],
      [1, 1],
      [100_000, 777],
      [5 * MB - 1, 65_536],
      [5 * MB, 65_536],
      [5 * MB + 1, 65_536],
      [10 * MB, 5 * MB],
      [12 * MB + 345, 99_991],
      [12 * MB, 7 * MB],
    ] as const
  ).map(([size, piece]) => ({
    name: `accepts a stream of ${size} bytes in pieces of ${piece}`,
    async check(storage: Storage) {
      const whole = bytesOf(size);
      const info = await storage.write("s/stream", pieces(whole, piece), "video/mp4");
      assert.deepEqual([info.size, info.mime], [size, "video/mp4"]);
      const stored = await storage.read("s/stream");
      assert.ok(stored);
      assert.equal(stored.size, size);
      assert.ok(isSame(await readAll(stored.body), whole));
      const middle = await storage.read("s/stream", { start: 5 * MB - 3, end: 5 * MB + 3 });
      assert.ok(middle);
      assert.deepEqual([...(await readAll(middle.body))], [...whole.subarray(5 * MB - 3, 5 * MB + 3)]);
    },
  })),
  ...[0, 1000, 6 * MB, 11 * MB].map((fail_after) => ({
    name: `keeps nothing of a stream that fails after ${fail_after} bytes`,
    async check(storage: Storage) {
      const broken = () => pieces(bytesOf(16 * MB), 500_000, fail_after);
      await assert.rejects(storage.write("f/new", broken(), "video/mp4"), /the source broke/);
      assert.equal(await storage.head("f/new"), null);
      await storage.write("f/old", bytesOf(10), "text/plain");
      await assert.rejects(storage.write("f/old", broken(), "video/mp4"), /the source broke/);
      const old = await storage.head("f/old");
      assert.deepEqual([old?.size, old?.mime], [10, "text/plain"]);
    },
  })),
  {
    name: "replaces an object and changes its ETag",
    async check(storage) {
      const first = await storage.write("w/same", bytesOf(6 * MB, 1), "video/mp4");
      const second = await storage.write("w/same", streamOf(bytesOf(20, 2)), "text/plain");
      assert.notEqual(second.etag, first.etag);
      assert.deepEqual(await storage.head("w/same"), { size: 20, mime: "text/plain", etag: second.etag });
      const third = await storage.write("w/same", bytesOf(20, 3), "text/plain");
      assert.notEqual(third.etag, second.etag);
    },
  },
  {
    name: "keeps one whole object of several written to a key at once",
    async check(storage) {
      const texts = Array.from({ length: 8 }, (_, index) => String(index).repeat(100_000));
      await Promise.all(texts.map((text) => storage.write("once/same", encode(text), "text/plain")));
      const stored = await storage.read("once/same");
      assert.ok(stored && texts.includes(decode(await readAll(stored.body))));
      await storage.clear("once/");
      assert.equal(await storage.head("once/same"), null);
    },
  },
  {
    name: "clears everything under a prefix and nothing else",
    async check(storage) {
      const keys = ["c/1/a", "c/1/b/c", "c/10", "d/1/a"];
      for (const key of keys) await storage.write(key, bytesOf(3), "text/plain");
      await storage.clear("c/1/");
      const sizes = await Promise.all(keys.map(async (key) => (await storage.head(key))?.size ?? null));
      assert.deepEqual(sizes, [null, null, 3, 3]);
      await storage.clear("nothing/here");
    },
  },
  {
    name: "is not cleared as a whole",
    async check(storage) {
      await storage.write("whole/a", bytesOf(3), "text/plain");
      for (const prefix of ["", undefined as unknown as string])
        await assert.rejects(async () => storage.clear(prefix));
      assert.equal((await storage.head("whole/a"))?.size, 3);
    },
  },
  {
    name: "clears the same objects concurrently",
    async check(storage) {
      for (let round = 0; round < 3; round++) {
        const keys = Array.from({ length: 6 }, (_, index) => `twice/${round}/${index}/x`);
        for (const key of keys) await storage.write(key, encode("x"), "text/plain");
        await Promise.all(
          ["", `${round}/`, `${round}/`, `${round}/3/`].map((rest) => storage.clear(`twice/${rest}`)),
        );
        for (const key of keys) assert.equal(await storage.head(key), null);
      }
    },
  },
  {
    name: "clears more than fits one page of a list",
    async check(storage) {
      for (let n = 0; n < 1005; n += 15) {
        const some = Array.from({ length: 15 }, (_, m) => `many/${n + m}`);
        await Promise.all(some.map((key) => storage.write(key, bytesOf(1), "text/plain")));
      }
      await storage.clear("many/");
      for (const n of [0, 500, 1004]) assert.equal(await storage.head(`many/${n}`), null);
    },
  },
  {
    name: "accepts any character in a key",
    async check(storage) {
      const key = "k/ä ö%2F?#&+'\"~日本.mp4";
      await storage.write(key, bytesOf(4), "video/mp4");
      assert.equal((await storage.head(key))?.size, 4);
      await storage.clear("k/");
      assert.equal(await storage.head(key), null);
    },
  },
];

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

// A mismatch of megabytes is not worth printing.
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, n) => byte === b[n]);
}

function bytesOf(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let n = 0; n < length; n++) bytes[n] = (n * 31 + seed * 7) % 251;
  return bytes;
}

function pieces(whole: Uint8Array, size: number, fail_after = Number.POSITIVE_INFINITY) {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= fail_after) return controller.error(new Error("the source broke"));
      if (at >= whole.length) return controller.close();
      controller.enqueue(whole.slice(at, at + size));
      at += size;
    },
  });
}
