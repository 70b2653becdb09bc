/** Decides whether more runs of a project may wait for their turn. */
export interface Room {
  /** How many runs of a project may wait. */
  readonly most: number;
  /** True when there is room for so many more, one by default, which is then taken: for all of them or none. */
  take(project: string, count?: number): Promise<boolean>;
}

// What was asked is good for so long, less what was taken here since.
const GOOD_MS = 5000;
const MOST_PROJECTS = 10_000;

/** Creates a {@link Room} that rarely asks how many wait: others may add unseen runs for up to five seconds. */
export function createRoom(
  most: number,
  waiting: (project: string) => Promise<number>,
  now: () => number,
): Room {
  const known = new Map<string, { left: number; until: number }>();
  return {
    most,
    async take(project, count = 1) {
      let room = known.get(project);
      if (!room || room.left < count || now() >= room.until) {
        room = { left: most - (await waiting(project)), until: now() + GOOD_MS };
        if (known.size >= MOST_PROJECTS) known.clear();
        known.set(project, room);
      }
      if (room.left < count) return false;
      room.left -= count;
      return true;
    },
  };
}
