import { MediaError } from "../../core/errors.ts";
import type { Update } from "../client.ts";

/** Listens to a run. */
export interface Watcher<T> {
  /** Takes how the run stands, then every change; the last one is the finished run. */
  update(update: Update<T>): void;
  /** Called with the error that ended the watch. */
  fail(error: MediaError): void;
}

/** A run that is watched. */
export interface Watched<T> {
  watchers: Set<Watcher<T>>;
  /** How it stood last; null until that is known. */
  last: Update<T> | null;
}

/** Adds a watcher; one that joins late soon receives the latest update. Returns a function that removes it, which calls `empty` after the last one. */
export function addWatcher<T>(run: Watched<T>, watcher: Watcher<T>, empty: () => void): () => void {
  run.watchers.add(watcher);
  const { last } = run;
  // By itself, as a caller expects of an event.
  if (last) queueMicrotask(() => run.last === last && tell(run, watcher));
  return () => {
    run.watchers.delete(watcher);
    if (run.watchers.size === 0) empty();
  };
}

/** Passes the latest update to every watcher. */
export function tellAll<T>(run: Watched<T>): void {
  for (const watcher of [...run.watchers]) tell(run, watcher);
}

/** Drops all watchers, failing each where there is an error. */
export function letGo<T>(run: Watched<T>, error: MediaError | null): void {
  if (error) for (const watcher of run.watchers) watcher.fail(error);
  run.watchers.clear();
}

/** Fails a watcher of a closed client. */
export function refuseWatcher<T>(watcher: Watcher<T>): () => void {
  queueMicrotask(() => watcher.fail(closedError()));
  return () => {};
}

/** The error of calls to a closed client. */
export function closedError(): MediaError {
  return new MediaError("service_unavailable", "The client is closed.", { retryable: false });
}

// What a listener throws is its own affair, as with any event.
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
