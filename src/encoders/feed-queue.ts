import type { Feed } from "./core-feed.ts";

/** A feed that is filled piece by piece. */
export interface FeedQueue extends Feed {
  /** Adds a piece, and waits until there is room for another. Gives false when nothing more is wanted. */
  put(piece: Uint8Array): Promise<boolean>;
  /** Gives memory of pieces that have been read, to be used again; null when there is none. */
  reuse(): ArrayBufferLike | null;
  /** Ends the feed behind what is in it. */
  end(): void;
}

/** Creates a queue that holds so many pieces at the most. */
export function createFeedQueue(most: number): FeedQueue {
  const queue: Uint8Array[] = [];
  let spare: ArrayBufferLike | null = null;
  let taken = 0;
  let ended = false;
  let arrived = Promise.withResolvers<void>();
  let room = Promise.withResolvers<void>();

  return {
    async put(piece) {
      if (!ended) queue.push(piece);
      arrived.resolve();
      while (queue.length >= most && !ended) {
        room = Promise.withResolvers();
        await room.promise;
      }
      return !ended;
    },
    reuse() {
      const given = spare;
      spare = null;
      return given;
    },
    end() {
      ended = true;
      arrived.resolve();
      room.resolve();
    },
    wait() {
      if (queue.length > 0 || ended) return null;
      arrived = Promise.withResolvers();
      return arrived.promise;
    },
    take(length) {
      const [first] = queue;
      if (!first) return new Uint8Array();
      const bytes = first.subarray(taken, taken + length);
      taken += bytes.length;
      if (taken < first.length) return bytes;
      queue.shift();
      taken = 0;
      // It is read from right after this, and not written to before the next picture is there.
      spare = first.buffer;
      room.resolve();
      return bytes;
    },
  };
}
