import type { Item } from "./item.ts";
import { isOver, isStartable, stateOf } from "./queue.ts";

export interface Totals {
  /** Ready, with valid options. */
  readonly ready: number;
  /** Uploading, waiting for their turn, or converting. */
  readonly running: number;
  readonly succeeded: number;
  /** Finished in any way. */
  readonly over: number;
  /** Percentage of the current batch, including its finished items; null while nothing runs. */
  readonly percent: number | null;
}

const RUNNING: ReadonlySet<string> = new Set(["sending", "queued", "processing"]);

export function totalsOf(items: readonly Item[]): Totals {
  const states = items.map(stateOf);
  const running = items.filter((_, index) => RUNNING.has(states[index] ?? ""));
  const count = (state: string) => states.filter((each) => each === state).length;
  const over = items.filter(isOver);
  // Items that ended long before this batch began are not part of it.
  const began = Math.min(...running.map(({ task }) => task?.created_at ?? Number.POSITIVE_INFINITY));
  const ended = over.filter(({ task }) => (task?.finished_at ?? 0) >= began).length;
  const done = running.reduce((sum, { pace }) => sum + (pace?.progress ?? 0), 100 * ended);
  return {
    ready: items.filter(isStartable).length,
    running: running.length,
    succeeded: count("succeeded"),
    over: over.length,
    percent: running.length === 0 ? null : Math.floor(done / (running.length + ended)),
  };
}
