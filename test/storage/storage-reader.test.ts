import { expect, test } from "vitest";
import type { ByteRange, Storage } from "../../src/runs/ports.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { storageReader } from "../../src/storage/readers.ts";

const bytes = Uint8Array.from({ length: 3_000_000 }, (_, n) => (n * 31) % 251);

function counting(storage: Storage): Storage & { ranges: ByteRange[] } {
  const ranges: ByteRange[] = [];
  return {
    ...storage,
    ranges,
    read(key, range) {
      if (range) ranges.push(range);
      return storage.read(key, range);
    },
  };
}

test("reads any range of a stored object, clipped to its size, with few reads of storage", async () => {
  const storage = counting(createMemoryStorage());
  await storage.write("a", bytes, "video/mp4");
  const reader = await storageReader(storage, "a");
  expect(reader.size).toBe(bytes.length);
  const spans = [
    [0, 16],
    [16, 5000],
    [2_999_990, 4_000_000],
    [100_000, 2_500_000],
    [9, 9],
    [3_000_000, 3_000_001],
  ];
  for (const [start = 0, end = 0] of spans) {
    expect(Buffer.compare(await reader.read({ start, end }), bytes.subarray(start, end))).toBe(0);
  }
  expect(storage.ranges.length).toBeLessThanOrEqual(4);
});

test("returns copies that the caller may change", async () => {
  const storage = createMemoryStorage();
  await storage.write("a", bytes, "video/mp4");
  const reader = await storageReader(storage, "a");
  (await reader.read({ start: 0, end: 10 })).fill(255);
  expect(await reader.read({ start: 0, end: 10 })).toEqual(bytes.slice(0, 10));
});

test("rejects a missing object, and one that changes while it is read", async () => {
  const storage = createMemoryStorage();
  await expect(storageReader(storage, "none")).rejects.toMatchObject({ kind: "media_not_found" });
  await storage.write("a", bytes, "video/mp4");
  const reader = await storageReader(storage, "a");
  await storage.write("a", bytes.toReversed(), "video/mp4");
  await expect(reader.read({ start: 0, end: 1 })).rejects.toMatchObject({
    kind: "internal_error",
    retryable: true,
  });
  await storage.clear("a");
  await expect(reader.read({ start: 0, end: 1 })).rejects.toMatchObject({ kind: "internal_error" });
});

test("rejects with the reason of an abort", async () => {
  const storage = createMemoryStorage();
  await storage.write("a", bytes, "video/mp4");
  const reader = await storageReader(storage, "a");
  const reason = new Error("stopped");
  await expect(reader.read({ start: 0, end: 1 }, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(await reader.read({ start: 0, end: 1 })).toEqual(bytes.slice(0, 1));
});
