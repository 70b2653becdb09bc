import { MediaError, toMediaError } from "../core/errors.ts";
import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";
import { isFinished } from "../core/transitions.ts";
import { sleep } from "../storage/sleep.ts";
import type { Update } from "./client.ts";
import { updateOf } from "./progress.ts";

/** How often a run is asked after, in milliseconds. */
export interface PollTimes {
  /** The first pause, default 250; each one is a quarter longer than the one before. */
  first_ms: number;
  /** The longest pause, default 3000. */
  most_ms: number;
}

/** Where none are given. */
export const POLL_TIMES: PollTimes = { first_ms: 250, most_ms: 3000 };

/** Who is told of a run. */
export interface Watcher<T> {
  /** Takes how the run stands, then every change; the last one is the finished run. */
  update(update: Update<T>): void;
  /** Takes why nothing more will be told. */
  fail(error: MediaError): void;
}

/** Watches runs, each asked after by one loop however many watchers it has. */
export interface Watch<T> {
  /** Adds a watcher of a run by its id; gives what takes it away. */
  add(id: string, watcher: Watcher<T>): () => void;
  /** Ends all, for good; whoever still watches is told. */
  close(): void;
}

/** Builds a {@link Watch} over a way to read a run, which bears lost connections by itself. */
export function createWatch<T extends Task | Step>(
  read: (id: string, signal: AbortSignal) => Promise<T>,
  times: PollTimes = POLL_TIMES,
): Watch<T> {
  const runs = new Map<string, Followed<T>>();
  let closed = false;

  function follow(id: string): Followed<T> {
    const run: Followed<T> = { watchers: new Set(), last: null, stop: new AbortController() };
    runs.set(id, run);
    poll(id, run).catch((thrown: unknown) => {
      if (!run.stop.signal.aborted) end(id, run, toMediaError(thrown));
    });
    return run;
  }

  async function poll(id: string, run: Followed<T>): Promise<void> {
    const { signal } = run.stop;
    for (let pause = times.first_ms; ; pause = Math.min(pause * 1.25, times.most_ms)) {
      const record = await read(id, signal);
      // Whoever was the last to watch may have gone while the answer came.
      signal.throwIfAborted();
      if (isNews(record, run.last)) {
        run.last = updateOf(record, run.last);
        for (const watcher of [...run.watchers]) tell(run, watcher);
      }
      if (isFinished(record)) return end(id, run, null);
      await sleep(pause, signal);
    }
  }

  function end(id: string, run: Followed<T>, error: MediaError | null): void {
    if (runs.get(id) === run) runs.delete(id);
    run.stop.abort();
    for (const watcher of run.watchers) if (error) watcher.fail(error);
    run.watchers.clear();
  }

  return {
    add(id, watcher) {
      if (closed) {
        queueMicrotask(() => watcher.fail(closedError()));
        return () => {};
      }
      const run = runs.get(id) ?? follow(id);
      run.watchers.add(watcher);
      // Who comes later hears how the run stands too, and by itself, as a caller expects.
      const { last } = run;
      if (last) queueMicrotask(() => run.last === last && tell(run, watcher));
      return () => {
        run.watchers.delete(watcher);
        if (run.watchers.size === 0) end(id, run, null);
      };
    },
    close() {
      closed = true;
      for (const [id, run] of runs) end(id, run, closedError());
    },
  };
}

/** A run that is watched. */
interface Followed<T> {
  watchers: Set<Watcher<T>>;
  last: Update<T> | null;
  stop: AbortController;
}

// A mirror of the record may be older than what was seen already.
function isNews<T extends Task | Step>(record: T, last: Update<T> | null): boolean {
  if (!last) return true;
  if (record.updated_at < last.record.updated_at) return false;
  return JSON.stringify(record) !== JSON.stringify(last.record);
}

// What a listener throws is its own affair, as with any event.
function tell<T>({ watchers, last }: Followed<T>, watcher: Watcher<T>): void {
  if (!last || !watchers.has(watcher)) return;
  try {
    watcher.update(last);
  } catch (thrown) {
    queueMicrotask(() => {
      throw thrown;
    });
  }
}

function closedError(): MediaError {
  return new MediaError("service_unavailable", "The client is closed.", { retryable: false });
}
