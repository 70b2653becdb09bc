import { createLanes } from "./lanes.ts";
import { sortOf } from "./run-records.ts";

/** Sees to it that each run is carried out in one tab, and goes on in another when that tab closes. */
export interface RunTurns {
  /** Takes part in carrying a run out: does it now, or when the tab that does it is gone. */
  join(id: string): void;
  /** Ends the work of a run here; what waits for its turn stops waiting. */
  stop(id: string, reason: unknown): void;
  /** True when a tab, this one or another, carries the run out or waits to. */
  isTaken(id: string): Promise<boolean>;
}

/**
 * Builds the turns of a tab; `carryOut` does a run from where it stands, or tidies up one that was stopped, never rejects, and may give what is to
 * be done when the run is free for others again. At most `most` tasks are done at once, and as many steps beside them, so that a look into a
 * file does not wait for encodes.
 */
export function createRunTurns(
  name: string,
  most: number,
  carryOut: (id: string, signal: AbortSignal) => Promise<(() => Promise<void>) | undefined>,
): RunTurns {
  const joined = new Map<string, { controller: AbortController; again: boolean }>();
  const lanes = { task: createLanes(most), step: createLanes(most) };
  const lockOf = (id: string) => `${name} run ${id}`;

  async function take(id: string, { signal }: AbortController): Promise<void> {
    const after = await navigator.locks.request(lockOf(id), { signal }, () =>
      lanes[sortOf(id)].run(() => carryOut(id, signal), signal),
    );
    await after?.();
  }

  function join(id: string): void {
    const before = joined.get(id);
    if (before) {
      before.again = true;
      return;
    }
    const own = { controller: new AbortController(), again: false };
    joined.set(id, own);
    take(id, own.controller)
      // The wait for a lock that was given up.
      .catch(() => {})
      .finally(() => {
        joined.delete(id);
        // It may have ended for the want of what is there by now.
        if (own.again && !own.controller.signal.aborted) join(id);
      });
  }

  return {
    join,
    stop(id, reason) {
      joined.get(id)?.controller.abort(reason);
    },
    async isTaken(id) {
      const { held = [] } = await navigator.locks.query();
      return held.some((lock) => lock.name === lockOf(id));
    },
  };
}
