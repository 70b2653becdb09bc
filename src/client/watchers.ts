import { MediaError } from "../core/errors.ts";
import type { Update } from "./client.ts";

/** Who is told of a run. */
export interface Watcher<T> {
  /** Takes how the run stands, then every change; the last one is the finished run. */
  update(update: Update<T>): void;
  /** Takes why nothing more will be told. */
  fail(error: MediaError): void;
}

/** A run that is watched. */
export interface Watched<T> {
  watchers: Set<Watcher<T>>;
  /** How it stood last; null until that is known. */
  last: Update<T> | null;
}

/** Adds a watcher; who comes later hears soon how the run stands too. Gives what takes it away, which calls `empty` after the last one. */
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

/** Tells every watcher how the run stands. */
export function tellAll<T>(run: Watched<T>): void {
  for (const watcher of [...run.watchers]) tell(run, watcher);
}

/** Lets all watchers go, with an error that each is told of where there is one. */
export function letGo<T>(run: Watched<T>, error: MediaError | null): void {
  if (error) for (const watcher of run.watchers) watcher.fail(error);
  run.watchers.clear();
}

/** Takes a watcher of a client that is closed, which is told so. */
export function refuseWatcher<T>(watcher: Watcher<T>): () => void {
  queueMicrotask(() => watcher.fail(closedError()));
  return () => {};
}

/** What is thrown by a client that was closed. */
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
