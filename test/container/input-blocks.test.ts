import { expect, test } from "vitest";
import { createBlocks, type ReadBlock } from "../../worker/container/input-blocks.ts";

const COUNT = 40;

/**
 * A file whose blocks hold their own number; `log` records the blocks of every read, `broken` makes reads of
 * them fail.
 */
function openFile() {
  const log: number[][] = [];
  const broken = new Set<number>();
  const read = createBlocks(
    async (first, count) => {
      const indexes = Array.from({ length: count }, (_, at) => first + at);
      log.push(indexes);
      if (indexes.some((index) => broken.has(index))) throw new Error("broken");
      return indexes.map((index) => Uint8Array.of(index));
    },
    { count: COUNT, keep: 4, ahead: 8 },
  );
  return { log, broken, read };
}

async function readThrough(read: ReadBlock, from: number, to: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let index = from; index < to; index++) numbers.push((await read(index))[0] ?? -1);
  return numbers;
}

test("reads ahead for a sequential reader, in few reads and each block once", async () => {
  const { log, read } = openFile();
  expect(await readThrough(read, 0, COUNT)).toEqual(Array.from({ length: COUNT }, (_, index) => index));
  expect(log.flat()).toEqual(Array.from({ length: COUNT }, (_, index) => index));
  const lengths = log.map((indexes) => indexes.length);
  expect(lengths).toEqual([1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 2, 2, 3, 2, 3, 3, 3, 4, 5, 2]);
});

test("reads nothing ahead for a reader that jumps", async () => {
  const { log, read } = openFile();
  for (const index of [0, 39, 20, 7]) expect(await read(index)).toEqual(Uint8Array.of(index));
  expect(log).toEqual([[0], [39], [20], [7]]);
});

test("keeps recently read blocks, and reads older ones again", async () => {
  const { log, read } = openFile();
  for (let index = 0; index < 26; index += 2) await read(index);
  const before = log.length;
  await read(24);
  await read(4);
  expect(log.length).toBe(before);
  await read(0);
  expect(log.slice(before)).toEqual([[0]]);
});

test("retries a failed read-ahead when one of its blocks is requested", async () => {
  const { log, broken, read } = openFile();
  broken.add(4);
  await readThrough(read, 0, 4);
  expect(log).toContainEqual([4]);
  broken.clear();
  expect(await readThrough(read, 4, 8)).toEqual([4, 5, 6, 7]);
  broken.add(30);
  await expect(read(30)).rejects.toThrow("broken");
  broken.clear();
  expect(await read(30)).toEqual(Uint8Array.of(30));
});
