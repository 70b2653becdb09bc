/** Says whether another run of a key may wait for its turn. */
export interface Room {
  /** How many runs of a key may wait. */
  readonly most: number;
  /** True when there is room for one more, which is then taken. */
  take(key_id: string): Promise<boolean>;
}

// What was asked is good for so long, less what was taken here since.
const GOOD_MS = 5000;
const MOST_KEYS = 10_000;

/** Creates a {@link Room} that rarely asks how many wait: others may add unseen runs for up to five seconds. */
export function createRoom(
  most: number,
  waiting: (key_id: string) => Promise<number>,
  now: () => number,
): Room {
  const known = new Map<string, { left: number; until: number }>();
  return {
    most,
    async take(key_id) {
      let room = known.get(key_id);
      if (!room || room.left <= 0 || now() >= room.until) {
        room = { left: most - (await waiting(key_id)), until: now() + GOOD_MS };
        if (known.size >= MOST_KEYS) known.clear();
        known.set(key_id, room);
      }
      if (room.left <= 0) return false;
      room.left--;
      return true;
    },
  };
}
