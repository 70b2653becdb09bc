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
  const asked: ByteRange[] = [];
  let [open, most] = [0, 0];
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
      asked.push(range);
      most = Math.max(most, ++open);
      await vi.waitUntil(() => most >= enough, { interval: 1 });
      open--;
      if (fails(range)) throw new Error("refused");
      return createByteSource(new Blob([film.subarray(range.start, range.end)]).stream());
    },
  });
  const read = async (start: number, end: number) =>
    Buffer.concat(await Array.fromAsync(file.read({ start, end })));
  const sorted = () => asked.toSorted((one, other) => one.start - other.start);
  return { file, read, asked, sorted, most: () => most, settled: () => Promise.all(later) };
}

test("a range is fetched over four connections, each byte once, and comes in order", async () => {
  const { read, asked, sorted, most, settled } = openFile(4);
  const [start, end] = [MIB / 2 + 5, 6 * MIB + 7];
  expect(Buffer.compare(await read(start, end), film.subarray(start, end))).toBe(0);
  expect(most()).toBe(4);
  const ranges = sorted();
  for (const [index, range] of ranges.entries()) {
    expect(range.start).toBe(ranges[index - 1]?.end ?? MIB / 2);
    expect(range.end - range.start).toBeLessThanOrEqual(MIB);
  }
  // What was fetched is kept.
  await settled();
  const count = asked.length;
  expect(Buffer.compare(await read(start, end), film.subarray(start, end))).toBe(0);
  expect(asked).toHaveLength(count);
});

test("a long range is fetched in turn, no further than it is read", async () => {
  const { file, asked } = openFile();
  const pieces = file.read({ start: 0, end: film.length });
  const { value } = await pieces.next();
  await pieces.return(undefined);
  expect(Buffer.compare(value ?? Buffer.alloc(0), film.subarray(0, value?.length))).toBe(0);
  expect(asked).toEqual([{ start: 0, end: film.length }]);
});

test("a piece that fails fails the read; the others are kept, and the next read fetches that piece alone", async () => {
  let failing = true;
  const { read, asked, settled } = openFile(4, ({ start }) => failing && start === MIB);
  await expect(read(0, 4 * MIB)).rejects.toThrow("refused");
  await settled();
  expect(asked).toHaveLength(4);
  failing = false;
  asked.length = 0;
  expect(Buffer.compare(await read(0, 4 * MIB), film.subarray(0, 4 * MIB))).toBe(0);
  expect(asked).toEqual([{ start: MIB, end: 2 * MIB }]);
});

test("prefetching fetches what is not kept, over several connections", async () => {
  const { file, read, asked, most } = openFile(4);
  await file.prefetch({ start: 0, end: 8 * MIB });
  expect([most(), asked.length]).toEqual([4, 8]);
  expect(Buffer.compare(await read(0, 8 * MIB), film.subarray(0, 8 * MIB))).toBe(0);
  expect(asked).toHaveLength(8);
});

/** Turns at one source, with how often a reader had to wait. */
function createTurns(): FetchLock & { waits: number } {
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

test("readers that take turns fetch each byte once, though they read at the same time", async () => {
  const turns = createTurns();
  const objects = new Map<string, Uint8Array>();
  const readers = Array.from({ length: 3 }, () => openFile(1, () => false, turns, objects));
  const ranges = [
    [0, film.length],
    [MIB / 2 + 5, 6 * MIB + 7],
    [5, film.length - 3],
  ] as const;
  const read = await Promise.all(readers.map(({ read }, at) => read(...(ranges[at] ?? [0, 0]))));
  for (const [at, [start, end]] of ranges.entries())
    expect(Buffer.compare(read[at] ?? Buffer.alloc(0), film.subarray(start, end))).toBe(0);
  const asked = readers.flatMap((reader) => reader.asked).toSorted((one, other) => one.start - other.start);
  for (const [at, { start }] of asked.entries()) expect(start).toBe(asked[at - 1]?.end ?? 0);
  expect(asked.at(-1)?.end).toBe(film.length);
  expect(turns.waits).toBeGreaterThan(0);
});

test("what another reader failed to fetch is fetched by the one that waited for it", async () => {
  const turns = createTurns();
  const objects = new Map<string, Uint8Array>();
  const failing = openFile(1, ({ start }) => start === MIB, turns, objects);
  const waiting = openFile(1, () => false, turns, objects);
  const [failed, read] = await Promise.allSettled([failing.read(0, 3 * MIB), waiting.read(0, 3 * MIB)]);
  expect(failed.status).toBe("rejected");
  expect(read.status === "fulfilled" && Buffer.compare(read.value, film.subarray(0, 3 * MIB))).toBe(0);
  expect(waiting.asked).toContainEqual({ start: MIB, end: 2 * MIB });
});
