import { createLanes } from "./lanes.ts";

/** Sees to it that each run is carried out in one tab, and goes on in another when that tab closes. */
export interface RunTurns {
  /** Takes part in carrying a run out: does it now, or when the tab that does it is gone. */
  join(id: string): void;
  /** Ends the work of a run here; what waits for its turn stops waiting. */
  stop(id: string, reason: unknown): void;
  /** True when a tab, this one or another, carries the run out or waits to. */
  isTaken(id: string): Promise<boolean>;
}

/** Builds the turns of a tab; `carryOut` does a run from where it stands, and never rejects. At most `most` are done at once. */
export function createRunTurns(
  name: string,
  most: number,
  carryOut: (id: string, signal: AbortSignal) => Promise<void>,
): RunTurns {
  const joined = new Map<string, AbortController>();
  const lanes = createLanes(most);
  const lockOf = (id: string) => `${name} run ${id}`;

  async function take(id: string, { signal }: AbortController): Promise<void> {
    await navigator.locks.request(lockOf(id), { signal }, () =>
      lanes.run(async () => {
        if (!signal.aborted) await carryOut(id, signal);
      }),
    );
  }

  return {
    join(id) {
      if (joined.has(id)) return;
      const controller = new AbortController();
      joined.set(id, controller);
      take(id, controller)
        // The wait for a lock that was given up.
        .catch(() => {})
        .finally(() => {
          if (joined.get(id) === controller) joined.delete(id);
        });
    },
    stop(id, reason) {
      joined.get(id)?.abort(reason);
    },
    async isTaken(id) {
      const { held = [] } = await navigator.locks.query();
      return held.some((lock) => lock.name === lockOf(id));
    },
  };
}
