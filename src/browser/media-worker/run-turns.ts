import { createLanes } from "./lanes.ts";
import { sortOf } from "./run-records.ts";

/** Makes sure that each run executes in one tab, and continues in another when that tab closes. */
export interface RunTurns {
  /** Executes a run now, or when the tab that executes it closes. */
  join(id: string): void;
  /** Stops executing a run here, or waiting to. */
  stop(id: string, reason: unknown): void;
  /** Whether any tab executes the run or waits to. */
  isTaken(id: string): Promise<boolean>;
  /** Resolves when no tab executes the run. */
  settled(id: string): Promise<void>;
}

/**
 * Creates the turns of a tab; `carryOut` executes a run from its current state, or tidies up a stopped one, never rejects, and may resolve with a function
 * to call once the run's lock is released. At most `most` tasks run at once, and as many steps beside them, so that a probe
 * does not wait for encodes.
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
      // An abandoned wait for a lock.
      .catch(() => {})
      .finally(() => {
        joined.delete(id);
        // It may have stopped for lack of a file that is there by now.
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
    settled: (id) => navigator.locks.request(lockOf(id), async () => {}),
  };
}
