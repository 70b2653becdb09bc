import { type MediaError, toMediaError } from "../media/errors.ts";
import type { Step } from "../runs/step.ts";
import type { Task } from "../runs/task.ts";
import { isFinished } from "../runs/transitions.ts";
import { sleep } from "../util/async.ts";
import type { Update } from "./client.ts";
import * as errors from "./errors.ts";
import { createPace, type Pace, updateOf } from "./progress.ts";

/** Pauses between polls, in milliseconds. */
export interface PollTimes {
  /**
   * The first pause; each later one is a tenth longer.
   *
   * @default 250
   */
  firstMs: number;
  /**
   * The longest pause.
   *
   * @default 3000
   */
  maxMs: number;
}

/** The default {@link PollTimes}. */
export const POLL_TIMES: PollTimes = { firstMs: 250, maxMs: 3000 };

/** Watches runs; each is polled by one loop, however many watchers it has. */
export interface Watch<T> {
  /** Adds a watcher of a run by its id; returns a function that removes it. */
  add(id: string, watcher: Watcher<T>): () => void;
  /** Closes every watch; the remaining watchers fail. */
  close(): void;
}

/** Creates a {@link Watch} that polls runs with `read`, which handles lost connections itself. */
export function createWatch<T extends Task | Step>(
  read: (id: string, signal: AbortSignal) => Promise<T>,
  times: PollTimes = POLL_TIMES,
): Watch<T> {
  const runs = new Map<string, PolledRun<T>>();
  let closed = false;

  function follow(id: string): PolledRun<T> {
    const run: PolledRun<T> = {
      watchers: new Set(),
      last: null,
      pace: createPace(),
      stop: new AbortController(),
    };
    runs.set(id, run);
    poll(id, run).catch((thrown: unknown) => {
      if (!run.stop.signal.aborted) end(id, run, toMediaError(thrown));
    });
    return run;
  }

  async function poll(id: string, run: PolledRun<T>): Promise<void> {
    const { signal } = run.stop;
    for (let pause = times.firstMs; ; pause = Math.min(pause * 1.1, times.maxMs)) {
      const record = await read(id, signal);
      signal.throwIfAborted();
      if (hasChanged(record, run.last)) {
        run.last = updateOf(record, run.last, undefined, run.pace);
        notifyAll(run);
      }
      if (isFinished(record)) return end(id, run, null);
      await sleep(pause, signal);
    }
  }

  function end(id: string, run: PolledRun<T>, error: MediaError | null): void {
    if (runs.get(id) === run) runs.delete(id);
    run.stop.abort();
    dropWatchers(run, error);
  }

  return {
    add(id, watcher) {
      if (closed) return refuseWatcher(watcher);
      const run = runs.get(id) ?? follow(id);
      return addWatcher(run, watcher, () => end(id, run, null));
    },
    close() {
      closed = true;
      for (const [id, run] of runs) end(id, run, errors.clientClosed());
    },
  };
}

interface PolledRun<T> extends WatchedRun<T> {
  pace: Pace;
  stop: AbortController;
}

/** Returns whether a record is newer than the last one and differs from it; a mirrored record may be older. */
export function hasChanged<T extends Task | Step>(record: T, last: Update<T> | null): boolean {
  if (!last) return true;
  if (record.updated_at < last.record.updated_at) return false;
  return JSON.stringify(record) !== JSON.stringify(last.record);
}

interface Watcher<T> {
  /** Receives the current state of the run, then every change, ending with the finished run. */
  update(update: Update<T>): void;
  fail(error: MediaError): void;
}

export interface WatchedRun<T> {
  watchers: Set<Watcher<T>>;
  /** The latest state; null before the first. */
  last: Update<T> | null;
}

/**
 * Adds a watcher; one that joins late soon receives the latest update. Returns a function that removes it, which calls
 * `empty` after the last one.
 */
export function addWatcher<T>(run: WatchedRun<T>, watcher: Watcher<T>, empty: () => void): () => void {
  run.watchers.add(watcher);
  const { last } = run;
  // Callers expect events to be asynchronous.
  if (last) queueMicrotask(() => run.last === last && notify(run, watcher));
  return () => {
    run.watchers.delete(watcher);
    if (run.watchers.size === 0) empty();
  };
}

export function notifyAll<T>(run: WatchedRun<T>): void {
  for (const watcher of [...run.watchers]) notify(run, watcher);
}

/** Removes all watchers; fails each of them if there is an error. */
export function dropWatchers<T>(run: WatchedRun<T>, error: MediaError | null): void {
  if (error) for (const watcher of run.watchers) watcher.fail(error);
  run.watchers.clear();
}

export function refuseWatcher<T>(watcher: Watcher<T>): () => void {
  queueMicrotask(() => watcher.fail(errors.clientClosed()));
  return () => {};
}

function notify<T>({ watchers, last }: WatchedRun<T>, watcher: Watcher<T>): void {
  if (!last || !watchers.has(watcher)) return;
  try {
    watcher.update(last);
  } catch (thrown) {
    queueMicrotask(() => {
      throw thrown;
    });
  }
}
