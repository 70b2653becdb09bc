import { typeOf } from "./run-records.ts";

/** Ensures that each run executes in only one tab, and moves to another when that tab closes. */
export interface RunTurns {
  /** Executes a run now, or when the tab that executes it closes. */
  join(id: string): void;
  /** Stops executing a run here, or waiting to. */
  stop(id: string, reason: unknown): void;
  /** Returns whether any tab executes the run or waits to. */
  hasExecutor(id: string): Promise<boolean>;
  /** Resolves when no tab executes the run. */
  settled(id: string): Promise<void>;
}

/**
 * Creates the turns of a tab. `executeRun` executes a run from its current state, or tidies up a stopped one; it never rejects, and
 * may resolve to a function to call once the run's lock is released. At most `max` tasks run at once, and as many steps, so that a
 * probe does not wait for encodes.
 */
export function createRunTurns(
  name: string,
  max: number,
  executeRun: (id: string, signal: AbortSignal) => Promise<(() => Promise<void>) | undefined>,
): RunTurns {
  const joined = new Map<string, { controller: AbortController; rejoin: boolean }>();
  const limiters = { task: createLimiter(max), step: createLimiter(max) };
  const lockOf = (id: string) => `${name} run ${id}`;

  async function take(id: string, { signal }: AbortController): Promise<void> {
    const after = await navigator.locks.request(lockOf(id), { signal }, () =>
      limiters[typeOf(id)].run(() => executeRun(id, signal), signal),
    );
    await after?.();
  }

  function join(id: string): void {
    const before = joined.get(id);
    if (before) {
      before.rejoin = true;
      return;
    }
    const own = { controller: new AbortController(), rejoin: false };
    joined.set(id, own);
    take(id, own.controller)
      .catch(() => {})
      .finally(() => {
        joined.delete(id);
        // The run may have stopped for a missing file that has arrived since.
        if (own.rejoin && !own.controller.signal.aborted) join(id);
      });
  }

  return {
    join,
    stop(id, reason) {
      joined.get(id)?.controller.abort(reason);
    },
    async hasExecutor(id) {
      const { held = [] } = await navigator.locks.query();
      return held.some((lock) => lock.name === lockOf(id));
    },
    settled: (id) => navigator.locks.request(lockOf(id), async () => {}),
  };
}

/** Limits how many operations run at once, in order of arrival. */
export interface Limiter {
  /** Runs the work when its turn comes, or at once when the signal aborts. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

function createLimiter(max: number): Limiter {
  const waiting = new Set<() => void>();
  let free = max;

  function takeSlot(signal?: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const enter = () => {
      waiting.delete(enter);
      signal?.removeEventListener("abort", giveUp);
      resolve(true);
    };
    const giveUp = () => {
      waiting.delete(enter);
      resolve(false);
    };
    if (signal?.aborted) giveUp();
    else if (free > 0) {
      free--;
      enter();
    } else {
      waiting.add(enter);
      signal?.addEventListener("abort", giveUp, { once: true });
    }
    return promise;
  }

  function leave(): void {
    const [next] = waiting;
    if (next) next();
    else free++;
  }

  return {
    async run(work, signal) {
      const hasSlot = await takeSlot(signal);
      try {
        return await work();
      } finally {
        if (hasSlot) leave();
      }
    },
  };
}
