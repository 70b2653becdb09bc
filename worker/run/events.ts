import { createPace, followJob, type Pace, updateOf } from "../../src/client/progress.ts";
import { readEvents } from "../../src/client/read-events.ts";
import type { Update } from "../../src/client/update.ts";
import type { Job } from "../../src/runs/job.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import { logFault } from "../log.ts";
import type { Versioned } from "./runs.ts";
import type { RunRow } from "./schedule.ts";

/** Times of an event stream, in milliseconds. */
export interface EventTimes {
  /** The shortest time between two events; the last one never waits. */
  between: number;
  /** Silence after which a comment keeps the connection open. */
  heartbeat: number;
}

/** One event a second, and a heartbeat every 15: some proxies close connections that are silent for half a minute. */
export const EVENT_TIMES: EventTimes = { between: 1000, heartbeat: 15_000 };

/** The state of a run as one server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
interface RunEventBytes {
  version: number;
  finished: boolean;
  bytes: Uint8Array;
}

const encoder = new TextEncoder();
const COMMENT = encoder.encode(": still here\n\n");

/** Writes the state of a run as an event; `pace` has seen the earlier records. */
export function writeEvent<T extends Task | Step>(
  { version, record, choice = null }: Versioned<T>,
  pace: Pace = createPace(),
): RunEventBytes {
  const { error: _, ...update } = updateOf(record, null, choice, pace);
  const data = JSON.stringify(update);
  const bytes = encoder.encode(`event: update\nid: ${version}\ndata: ${data}\n\n`);
  return { version, finished: isFinished(record), bytes };
}

/**
 * Streams a run's state and its changes after version `seen`, until it is finished or deleted (`latest` returns null). Events are
 * written only when the reader pulls: a slow reader skips states and delays nobody.
 */
export function streamEvents(
  latest: () => RunEventBytes | null,
  changes: Pick<Changes, "wait">,
  lastVersion: number,
  times: EventTimes = EVENT_TIMES,
  onCancel: () => void = () => {},
): ReadableStream<Uint8Array> {
  let hasLeft = false;
  let due = Date.now();
  let heartbeatAt = due + times.heartbeat;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const event = latest();
          if (hasLeft) return;
          if (!event) return controller.close();
          const now = Date.now();
          const fresh = event.version > lastVersion;
          if (fresh && (event.finished || now >= due)) {
            lastVersion = event.version;
            due = now + times.between;
            heartbeatAt = now + times.heartbeat;
            controller.enqueue(event.bytes);
            if (event.finished) controller.close();
            return;
          }
          if (event.finished) return controller.close();
          if (now >= heartbeatAt) {
            heartbeatAt = now + times.heartbeat;
            return controller.enqueue(COMMENT);
          }
          await changes.wait((fresh ? Math.min(due, heartbeatAt) : heartbeatAt) - now);
        }
      },
      cancel() {
        hasLeft = true;
        onCancel();
      },
    },
    { highWaterMark: 0 },
  );
}

/** The events of one run for all its followers. */
export interface RunEvents {
  /** Streams the run's state and its changes after version `lastVersion`; `over` when the run ended at or before it, null for another project. */
  follow(project: string, lastVersion: number): ReadableStream<Uint8Array> | "over" | null;
  /** Notifies all followers of a change. */
  changed(): void;
}

/** Creates {@link RunEvents}, which reads and serializes each state once for all followers. */
export function createRunEvents(read: () => RunRow | null): RunEvents {
  const changes = createChanges();
  const pace = createPace();
  let event: RunEventBytes | null = null;

  function latest(): RunEventBytes | null {
    const row = event ? null : read();
    if (row) event = writeEvent(row, pace);
    return event;
  }

  return {
    follow(project, lastVersion) {
      const row = read();
      if (row?.project !== project) return null;
      if (isFinished(row.record) && row.version <= lastVersion) return "over";
      return streamEvents(latest, changes, lastVersion);
    },
    changed() {
      event = null;
      changes.tell();
    },
  };
}

/** Lets many callers wait for the next change. */
interface Changes {
  /** Resolves at the next change, or after `ms`. */
  wait(ms: number): Promise<void>;
  /** Wakes all waiters. */
  tell(): void;
}

/** Creates {@link Changes}; a waiter that times out leaves nothing behind. */
export function createChanges(): Changes {
  const waiting = new Set<() => void>();
  return {
    wait(ms) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = () => {
        clearTimeout(timer);
        waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      waiting.add(end);
      return promise;
    },
    tell() {
      for (const end of [...waiting]) end();
    },
  };
}

const MAX_LISTEN_MS = 30_000;

/** The callers that wait for the end of a run. */
export interface RunListeners {
  /** Resolves to true after `ms`, at most 30 seconds, or to false as soon as the run ends. */
  listen(ms: number): Promise<boolean>;
  /** Notifies all listeners of the end. */
  end(): void;
}

/** Creates {@link RunListeners}. */
export function createRunListeners(): RunListeners {
  const listeners = new Set<(goes_on: boolean) => void>();
  return {
    async listen(ms) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(true), Math.min(ms, MAX_LISTEN_MS));
      listeners.add(resolve);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        listeners.delete(resolve);
      }
    },
    end() {
      for (const over of listeners) over(false);
    },
  };
}

/** Streams a job and its changes as server-sent events. `open` returns the event stream of a task, or null for a deleted one. */
export function streamJob(
  job: Job,
  open: (task: Task) => Promise<ReadableStream<Uint8Array> | "over" | null>,
): ReadableStream<Uint8Array> {
  const changes = createChanges();
  let latest: RunEventBytes | null = { version: 0, finished: false, bytes: new Uint8Array() };
  let version = 0;
  const stop = new AbortController();
  const updates = followJob(job, (task, signal) =>
    updatesIn(() => open(task), AbortSignal.any([signal, stop.signal])),
  );
  async function follow(): Promise<void> {
    try {
      for await (const update of updates) {
        const { record } = update;
        // Only the end has an id: a client that reconnects with it has seen everything.
        const id = isFinished(record) ? record.updated_at : 0;
        const text = `event: update\nid: ${id}\ndata: ${JSON.stringify(update)}\n\n`;
        latest = { version: ++version, finished: isFinished(record), bytes: encoder.encode(text) };
        changes.tell();
      }
    } catch (thrown) {
      logFault("job not followed", thrown, { job: job.id });
    }
    // The stream closes before the end, so that the client reconnects.
    if (!latest?.finished) latest = null;
    changes.tell();
  }
  void follow();
  return streamEvents(
    () => latest,
    changes,
    0,
    EVENT_TIMES,
    () => stop.abort(),
  );
}

async function* updatesIn(
  open: () => Promise<ReadableStream<Uint8Array> | "over" | null>,
  signal: AbortSignal,
): AsyncGenerator<Update<Task>, void> {
  const body = await open();
  if (!body || body === "over") return;
  // The pipe ends the stream of a silent task when the reader leaves.
  const events = readEvents(body.pipeThrough(new TransformStream(), { signal }));
  try {
    for await (const { event, data } of events) if (event === "update") yield JSON.parse(data);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}
