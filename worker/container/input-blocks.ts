/** Reads one block of a file, by its number. */
export type ReadBlock = (index: number) => Promise<Uint8Array>;

/** Reads so many blocks of a file, one after another, in one go. */
export type ReadBlocks = (first: number, count: number) => Promise<Uint8Array[]>;

// Of what was read in a row, this much is fetched ahead, so that little is wasted when the reader jumps.
const AHEAD_SHARE = 0.25;

/** How a file is read in blocks. */
export interface BlockOptions {
  /** Number of blocks of the file. */
  count: number;
  /** Blocks kept for later reads. */
  keep: number;
  /** Most blocks to prefetch for a sequential reader. */
  ahead: number;
}

/**
 * Reads a file in blocks: what was read lately is kept, and the next blocks are fetched while one is used, several in one go, since each
 * go has its price. Holds at most `keep + ahead` blocks.
 */
export function createBlocks(read: ReadBlocks, { count, keep, ahead }: BlockOptions): ReadBlock {
  // The latest are last.
  const kept = new Map<number, Promise<Uint8Array>>();
  let last = -2;
  // Blocks that were read one after another.
  let run = 0;

  const touch = (index: number): Promise<Uint8Array> | undefined => {
    const block = kept.get(index);
    if (block) {
      kept.delete(index);
      kept.set(index, block);
    }
    return block;
  };

  const fetch = (first: number, many: number): Promise<Uint8Array> => {
    const all = read(first, many);
    const blocks = Array.from({ length: many }, (_, at) => all.then((found) => found[at] as Uint8Array));
    for (const [at, block] of blocks.entries()) {
      const index = first + at;
      kept.set(index, block);
      // Of a block that failed nothing is kept, so that it is tried again when it is asked for again.
      block.catch(() => kept.get(index) === block && kept.delete(index));
    }
    return blocks[0] as Promise<Uint8Array>;
  };

  return async (index) => {
    run = index === last + 1 ? run + 1 : 0;
    last = index;
    const block = touch(index) ?? fetch(index, 1);
    // Few at first: a reader that looks for the index of a file soon jumps on.
    const wanted = Math.min(Math.ceil(run * AHEAD_SHARE), ahead, count - 1 - index);
    let there = 0;
    while (there < wanted && touch(index + there + 1)) there++;
    // Not before half of them are used up, so that there are several to fetch.
    if (there < wanted && there <= wanted / 2) void fetch(index + there + 1, wanted - there);
    for (const old of kept.keys()) {
      if (kept.size <= keep + ahead) break;
      kept.delete(old);
    }
    return block;
  };
}
