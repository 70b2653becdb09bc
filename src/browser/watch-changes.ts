import type { Update } from "../client/client.ts";
import { updateOf } from "../client/progress.ts";
import type { Watch, Watcher } from "../client/watch.ts";
import { MediaError, toMediaError } from "../core/errors.ts";
import { isFinished } from "../core/transitions.ts";
import type { Run } from "./media-api.ts";
import { createPace, type Pace } from "./pace.ts";

/** A {@link Watch} that is told of the changes, and does not have to ask. */
export interface ChangeWatch extends Watch<Run> {
  /** Takes a change of any run. */
  changed(record: Run): void;
  /** Takes that a run was removed. */
  removed(id: string): void;
}

/** Builds a {@link ChangeWatch}; `read` gives how a run stands when its first watcher comes. */
export function createChangeWatch(read: (id: string) => Promise<Run>): ChangeWatch {
  const runs = new Map<string, Watched>();
  let closed = false;

  function take(id: string, record: Run): void {
    const run = runs.get(id);
    const before = run?.last;
    // What was read may be older than what was told meanwhile.
    if (!run || (before && record.updated_at < before.record.updated_at)) return;
    if (before && isFinished(before.record)) return;
    run.last = { ...updateOf(record, before ?? null), ...run.pace(record) };
    for (const watcher of [...run.watchers]) tell(run, watcher);
    if (isFinished(record)) runs.delete(id);
  }

  function end(id: string, error: MediaError): void {
    const run = runs.get(id);
    runs.delete(id);
    for (const watcher of run?.watchers ?? []) watcher.fail(error);
    run?.watchers.clear();
  }

  function follow(id: string): Watched {
    const run: Watched = { watchers: new Set(), last: null, pace: createPace() };
    runs.set(id, run);
    read(id).then(
      (record) => run.last === null && take(id, record),
      (thrown: unknown) => runs.get(id) === run && end(id, toMediaError(thrown)),
    );
    return run;
  }

  return {
    add(id, watcher) {
      if (closed) {
        queueMicrotask(() => watcher.fail(closedError()));
        return () => {};
      }
      const run = runs.get(id) ?? follow(id);
      run.watchers.add(watcher);
      const { last } = run;
      if (last) queueMicrotask(() => run.last === last && tell(run, watcher));
      return () => {
        run.watchers.delete(watcher);
        if (run.watchers.size === 0 && runs.get(id) === run) runs.delete(id);
      };
    },
    changed: (record) => take(record.id, record),
    removed: (id) => end(id, new MediaError("task_not_found", `The run ${id} was deleted.`)),
    close() {
      closed = true;
      for (const id of [...runs.keys()]) end(id, closedError());
    },
  };
}

/** A run that is watched. */
interface Watched {
  watchers: Set<Watcher<Run>>;
  last: Update<Run> | null;
  pace: Pace;
}

// What a listener throws is its own affair, as with any event.
function tell({ watchers, last }: Watched, watcher: Watcher<Run>): void {
  if (!last || !watchers.has(watcher)) return;
  try {
    watcher.update(last);
  } catch (thrown) {
    queueMicrotask(() => {
      throw thrown;
    });
  }
}

/** What is thrown by a client that was closed. */
export function closedError(): MediaError {
  return new MediaError("service_unavailable", "The client is closed.", { retryable: false });
}
