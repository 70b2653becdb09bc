import { updateOf } from "../client/progress.ts";
import type { Watch } from "../client/watch.ts";
import { addWatcher, closedError, letGo, refuseWatcher, tellAll, type Watched } from "../client/watchers.ts";
import { MediaError, toMediaError } from "../core/errors.ts";
import { isFinished } from "../core/transitions.ts";
import type { Run, Standing } from "./media-api.ts";
import { createPace, type Pace } from "./pace.ts";

/** A {@link Watch} that is told of the changes, and does not have to ask. */
export interface ChangeWatch extends Watch<Run> {
  /** Takes how any run stands after a change. */
  changed(standing: Standing): void;
  /** Takes that a run was removed. */
  removed(id: string): void;
}

/** Builds a {@link ChangeWatch}; `read` gives how a run stands when its first watcher comes. */
export function createChangeWatch(read: (id: string) => Promise<Standing>): ChangeWatch {
  const runs = new Map<string, Changing>();
  let closed = false;

  function take(id: string, { record, choice }: Standing): void {
    const run = runs.get(id);
    const before = run?.last;
    // What was read may be older than what was told meanwhile.
    if (!run || (before && record.updated_at < before.record.updated_at)) return;
    if (before && isFinished(before.record)) return;
    run.last = { ...updateOf(record, before ?? null, choice), ...run.pace(record) };
    tellAll(run);
    if (isFinished(record)) runs.delete(id);
  }

  function end(id: string, error: MediaError): void {
    const run = runs.get(id);
    runs.delete(id);
    if (run) letGo(run, error);
  }

  function follow(id: string): Changing {
    const run: Changing = { watchers: new Set(), last: null, pace: createPace() };
    runs.set(id, run);
    read(id).then(
      (standing) => run.last === null && take(id, standing),
      (thrown: unknown) => runs.get(id) === run && end(id, toMediaError(thrown)),
    );
    return run;
  }

  return {
    add(id, watcher) {
      if (closed) return refuseWatcher(watcher);
      const run = runs.get(id) ?? follow(id);
      return addWatcher(run, watcher, () => runs.get(id) === run && runs.delete(id));
    },
    changed: (standing) => take(standing.record.id, standing),
    removed: (id) => end(id, new MediaError("task_not_found", `The run ${id} was deleted.`)),
    close() {
      closed = true;
      for (const id of [...runs.keys()]) end(id, closedError());
    },
  };
}

/** A run whose changes are told. */
interface Changing extends Watched<Run> {
  pace: Pace;
}
