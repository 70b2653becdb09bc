import { MediaError } from "../../core/errors.ts";
import type { Update } from "../client.ts";

export interface Watcher<T> {
  /** Receives the current state of the run, then every change, ending with the finished run. */
  update(update: Update<T>): void;
  fail(error: MediaError): void;
}

export interface Watched<T> {
  watchers: Set<Watcher<T>>;
  /** The last known state; null before the first. */
  last: Update<T> | null;
}

/**
 * Adds a watcher; one that joins late soon receives the latest update. Returns a function that removes it, which calls
 * `empty` after the last one.
 */
export function addWatcher<T>(run: Watched<T>, watcher: Watcher<T>, empty: () => void): () => void {
  run.watchers.add(watcher);
  const { last } = run;
  // Asynchronously, as callers expect of an event.
  if (last) queueMicrotask(() => run.last === last && tell(run, watcher));
  return () => {
    run.watchers.delete(watcher);
    if (run.watchers.size === 0) empty();
  };
}

export function tellAll<T>(run: Watched<T>): void {
  for (const watcher of [...run.watchers]) tell(run, watcher);
}

/** Drops all watchers; fails each of them if there is an error. */
export function dropWatchers<T>(run: Watched<T>, error: MediaError | null): void {
  if (error) for (const watcher of run.watchers) watcher.fail(error);
  run.watchers.clear();
}

export function refuseWatcher<T>(watcher: Watcher<T>): () => void {
  queueMicrotask(() => watcher.fail(closedError()));
  return () => {};
}

export function closedError(): MediaError {
  return new MediaError("service_unavailable", "The client is closed.", { retryable: false });
}

// Errors thrown by a listener are its own concern, as with any event.
function tell<T>({ watchers, last }: Watched<T>, watcher: Watcher<T>): void {
  if (!last || !watchers.has(watcher)) return;
  try {
    watcher.update(last);
  } catch (thrown) {
    queueMicrotask(() => {
      throw thrown;
    });
  }
}
