import { expect, test, vi } from "vitest";
import type { ByteRange } from "../../src/runs/ports.ts";
import { createByteSource } from "../../src/storage/byte-source.ts";
import { createExtents, createSparseFile, type FetchLock } from "../../src/storage/pinned.ts";
import { MIB } from "../../src/util/bytes.ts";

const film = Uint8Array.from({ length: 20 * MIB }, (_, index) => (index * 31 + (index >> 12)) % 251);

/** A file over a source that answers no request before `enough` are open. */
function openFile(
  enough = 1,
  fails: (range: ByteRange) => boolean = () => false,
  lock?: FetchLock,
  objects = new Map<string, Uint8Array>(),
) {
  const requests: ByteRange[] = [];
  let [open, maxOpen] = [0, 0];
  const extents = createExtents(
    {
      list: async (prefix) => [...objects.keys()].filter((key) => key.startsWith(prefix)),
      read: async (key, { start, end }) => objects.get(key)?.slice(start, end) ?? null,
      write: async (key, bytes) => void objects.set(key, bytes.slice()),
    },
    "work/",
  );
  const later: Promise<unknown>[] = [];
  const file = createSparseFile({
    size: film.length,
    extents,
    later: (work) => void later.push(work),
    lock,
    async open(range) {
      requests.push(range);
      maxOpen = Math.max(maxOpen, ++open);
      await vi.waitUntil(() => maxOpen >= enough, { interval: 1 });
      open--;
      if (fails(range)) throw new Error("refused");
      return createByteSource(new Blob([film.subarray(range.start, range.end)]).stream());
    },
  });
  const read = async (start: number, end: number) =>
    Buffer.concat(await Array.fromAsync(file.read({ start, end })));
  const sorted = () => requests.toSorted((one, other) => one.start - other.start);
  return { file, read, requests, sorted, maxOpen: () => maxOpen, settled: () => Promise.all(later) };
}

test("a range is fetched over four connections, each byte once, and comes in order", async () => {
  const { read, requests, sorted, maxOpen, settled } = openFile(4);
  const [start, end] = [MIB / 2 + 5, 6 * MIB + 7];
  expect(Buffer.compare(await read(start, end), film.subarray(start, end))).toBe(0);
  expect(maxOpen()).toBe(4);
  const ranges = sorted();
  for (const [index, range] of ranges.entries()) {
    expect(range.start).toBe(ranges[index - 1]?.end ?? MIB / 2);
    expect(range.end - range.start).toBeLessThanOrEqual(MIB);
  }
  await settled();
  const count = requests.length;
  expect(Buffer.compare(await read(start, end), film.subarray(start, end))).toBe(0);
  expect(requests).toHaveLength(count);
});

test("a long range is fetched in sequence, only as far as it is read", async () => {
  const { file, requests } = openFile();
  const pieces = file.read({ start: 0, end: film.length });
  const { value } = await pieces.next();
  await pieces.return(undefined);
  expect(Buffer.compare(value ?? Buffer.alloc(0), film.subarray(0, value?.length))).toBe(0);
  expect(requests).toEqual([{ start: 0, end: film.length }]);
});

test("a failed request rejects the read; the others are cached, and the next read fetches only what is missing", async () => {
  let failing = true;
  const { read, requests, settled } = openFile(4, ({ start }) => failing && start === MIB);
  await expect(read(0, 4 * MIB)).rejects.toThrow("refused");
  await settled();
  expect(requests).toHaveLength(4);
  failing = false;
  requests.length = 0;
  expect(Buffer.compare(await read(0, 4 * MIB), film.subarray(0, 4 * MIB))).toBe(0);
  expect(requests).toEqual([{ start: MIB, end: 2 * MIB }]);
});

test("prefetching fetches what is not cached, over several connections", async () => {
  const { file, read, requests, maxOpen } = openFile(4);
  await file.prefetch({ start: 0, end: 8 * MIB });
  expect([maxOpen(), requests.length]).toEqual([4, 8]);
  expect(Buffer.compare(await read(0, 8 * MIB), film.subarray(0, 8 * MIB))).toBe(0);
  expect(requests).toHaveLength(8);
});

/** A lock on one source that counts how often a reader had to wait. */
function createLock(): FetchLock & { waits: number } {
  const open = new Map<ByteRange, PromiseWithResolvers<void>>();
  return {
    waits: 0,
    async acquire(range) {
      const others = [...open].filter(([{ start, end }]) => start < range.end && range.start < end);
      if (others.length === 0) {
        const over = Promise.withResolvers<void>();
        open.set(range, over);
        return async () => {
          open.delete(range);
          over.resolve();
        };
      }
      this.waits++;
      await Promise.all(others.map(([, { promise }]) => promise));
      return null;
    },
  };
}

test("readers with a lock fetch each byte once, although they read at the same time", async () => {
  const lock = createLock();
  const objects = new Map<string, Uint8Array>();
  const readers = Array.from({ length: 3 }, () => openFile(1, () => false, lock, objects));
  const ranges = [
    [0, film.length],
    [MIB / 2 + 5, 6 * MIB + 7],
    [5, film.length - 3],
  ] as const;
  const read = await Promise.all(readers.map(({ read }, at) => read(...(ranges[at] ?? [0, 0]))));
  for (const [at, [start, end]] of ranges.entries())
    expect(Buffer.compare(read[at] ?? Buffer.alloc(0), film.subarray(start, end))).toBe(0);
  const requests = readers
    .flatMap((reader) => reader.requests)
    .toSorted((one, other) => one.start - other.start);
  for (const [at, { start }] of requests.entries()) expect(start).toBe(requests[at - 1]?.end ?? 0);
  expect(requests.at(-1)?.end).toBe(film.length);
  expect(lock.waits).toBeGreaterThan(0);
});

test("a reader that waited for another fetches what the other failed to fetch", async () => {
  const lock = createLock();
  const objects = new Map<string, Uint8Array>();
  const failing = openFile(1, ({ start }) => start === MIB, lock, objects);
  const waiting = openFile(1, () => false, lock, objects);
  const [failed, read] = await Promise.allSettled([failing.read(0, 3 * MIB), waiting.read(0, 3 * MIB)]);
  expect(failed.status).toBe("rejected");
  expect(read.status === "fulfilled" && Buffer.compare(read.value, film.subarray(0, 3 * MIB))).toBe(0);
  expect(waiting.requests).toContainEqual({ start: MIB, end: 2 * MIB });
});
