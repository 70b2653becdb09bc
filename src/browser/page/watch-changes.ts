import * as clientErrors from "../../client/errors.ts";
import { createPace, type Pace, updateOf } from "../../client/progress.ts";
import {
  addWatcher,
  dropWatchers,
  hasChanged,
  notifyAll,
  refuseWatcher,
  type Watch,
  type WatchedRun,
} from "../../client/watch.ts";
import { type MediaError, toMediaError } from "../../media/errors.ts";
import { isFinished } from "../../runs/transitions.ts";
import * as errors from "../errors.ts";
import type { Run, RunState } from "../media-api.ts";

/** A {@link Watch} that receives changes and does not poll. */
export interface ChangeWatch extends Watch<Run> {
  /** Receives the state of any run after a change. */
  changed(state: RunState): void;
  removed(id: string): void;
}

/** Creates a {@link ChangeWatch}; `read` returns the state of a run for its first watcher. */
export function createChangeWatch(read: (id: string) => Promise<RunState>): ChangeWatch {
  const runs = new Map<string, Changing>();
  let closed = false;

  function take(id: string, { record, choice, waiting, upload }: RunState): void {
    const run = runs.get(id);
    const before = run?.last;
    if (!run || (before && record.updated_at < before.record.updated_at)) return;
    if (before && isFinished(before.record)) return;
    run.last = {
      ...updateOf(record, before ?? null, choice, run.pace),
      waiting: waiting ?? null,
      upload: upload ?? null,
    };
    notifyAll(run);
    if (isFinished(record)) runs.delete(id);
  }

  function end(id: string, error: MediaError): void {
    const run = runs.get(id);
    runs.delete(id);
    if (run) dropWatchers(run, error);
  }

  function follow(id: string): Changing {
    const run: Changing = { watchers: new Set(), last: null, pace: createPace("sight") };
    runs.set(id, run);
    read(id).then(
      (state) => run.last === null && take(id, state),
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
    changed(state) {
      const { record } = state;
      take(record.id, state);
      for (const step of record.object === "task" ? record.steps : []) {
        const run = runs.get(step.id);
        if (run && hasChanged(step, run.last)) take(step.id, { record: step, choice: null });
      }
    },
    removed(id) {
      end(id, errors.runDeleted({ object: id.startsWith("step_") ? "step" : "task", id }));
    },
    close() {
      closed = true;
      for (const id of [...runs.keys()]) end(id, clientErrors.clientClosed());
    },
  };
}

interface Changing extends WatchedRun<Run> {
  pace: Pace;
}
