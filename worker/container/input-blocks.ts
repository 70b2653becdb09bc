/** Reads one block of a file, by its index. */
export type ReadBlock = (index: number) => Promise<Uint8Array>;

/** Reads consecutive blocks of a file in one request. */
export type ReadBlocks = (first: number, count: number) => Promise<Uint8Array[]>;

const AHEAD_SHARE = 0.25;

/** How a file is read in blocks. */
export interface BlockOptions {
  /** Blocks in the file. */
  count: number;
  /** Blocks cached for later reads. */
  keep: number;
  /** The most blocks to prefetch for a sequential reader. */
  ahead: number;
}

/**
 * Reads a file in blocks. Caches the latest blocks and prefetches the next ones for a sequential reader, several in one request. Holds at
 * most `keep + ahead` blocks.
 */
export function createBlocks(read: ReadBlocks, { count, keep, ahead }: BlockOptions): ReadBlock {
  const cache = new Map<number, Promise<Uint8Array>>();
  let last = -2;
  let sequentialBlocks = 0;

  const lookUp = (index: number): Promise<Uint8Array> | undefined => {
    const block = cache.get(index);
    if (block) {
      cache.delete(index);
      cache.set(index, block);
    }
    return block;
  };

  const fetch = (first: number, amount: number): Promise<Uint8Array> => {
    const all = read(first, amount);
    const blocks = Array.from({ length: amount }, (_, at) => all.then((bytes) => bytes[at] as Uint8Array));
    for (const [at, block] of blocks.entries()) {
      const index = first + at;
      cache.set(index, block);
      block.catch(() => cache.get(index) === block && cache.delete(index));
    }
    return blocks[0] as Promise<Uint8Array>;
  };

  return async (index) => {
    sequentialBlocks = index === last + 1 ? sequentialBlocks + 1 : 0;
    last = index;
    const block = lookUp(index) ?? fetch(index, 1);
    const target = Math.min(Math.ceil(sequentialBlocks * AHEAD_SHARE), ahead, count - 1 - index);
    let cached = 0;
    while (cached < target && lookUp(index + cached + 1)) cached++;
    // Waiting until half are used lets one request fetch several.
    if (cached < target && cached <= target / 2) void fetch(index + cached + 1, target - cached);
    for (const oldest of cache.keys()) {
      if (cache.size <= keep + ahead) break;
      cache.delete(oldest);
    }
    return block;
  };
}
