/** Reads the bytes of one block of a file, by its number. */
export type ReadBlock = (index: number) => Promise<Uint8Array>;

/** How a file is read in blocks. */
export interface BlockOptions {
  /** Number of blocks of the file. */
  count: number;
  /** Blocks kept for later reads. */
  keep: number;
  /** The most blocks fetched ahead of a reader that goes on from block to block. */
  ahead: number;
}

/** Reads a file in blocks: what was read lately is kept, and the next blocks are fetched while one is used. Holds at most `keep + ahead` blocks. */
export function createBlocks(read: ReadBlock, { count, keep, ahead }: BlockOptions): ReadBlock {
  // The latest are last.
  const kept = new Map<number, Promise<Uint8Array>>();
  let last = -2;
  // Blocks that were read one after another.
  let run = 0;

  const get = (index: number): Promise<Uint8Array> => {
    const block = kept.get(index) ?? read(index);
    kept.delete(index);
    kept.set(index, block);
    // Of a block that failed nothing is kept, so that it is tried again when it is asked for again.
    block.catch(() => kept.get(index) === block && kept.delete(index));
    return block;
  };

  return async (index) => {
    run = index === last + 1 ? run + 1 : 0;
    last = index;
    const block = get(index);
    // Few at first: a reader that looks for the index of a file soon jumps on.
    const to = Math.min(index + Math.min(run, ahead), count - 1);
    for (let next = index + 1; next <= to; next++) void get(next);
    for (const old of kept.keys()) {
      if (kept.size <= keep + ahead) break;
      kept.delete(old);
    }
    return block;
  };
}
