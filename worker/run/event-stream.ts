import { createPace, type Pace, updateOf } from "../../src/client/progress.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import type { Changes } from "./changes.ts";
import type { Versioned } from "./runs.ts";

/** Times of a stream of events, in milliseconds. */
export interface EventTimes {
  /** Between two events, but for the last one, which never waits. */
  between: number;
  /** Silence after which a comment keeps the connection. */
  heartbeat: number;
}

/** An event a second; proxies drop what is silent for a minute, or half of one. */
export const EVENT_TIMES: EventTimes = { between: 1000, heartbeat: 15_000 };

/** How a run stands, as one server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface RunEventBytes {
  version: number;
  finished: boolean;
  bytes: Uint8Array;
}

const encoder = new TextEncoder();
const COMMENT = encoder.encode(": still here\n\n");

/** Writes how a run stands as an event; `pace` has seen the records before it. */
export function writeEvent<T extends Task | Step>(
  { version, record, choice = null }: Versioned<T>,
  pace: Pace = createPace(),
): RunEventBytes {
  // The record has the error already.
  const { error: _, ...update } = updateOf(record, null, choice, pace);
  const data = JSON.stringify(update);
  const bytes = encoder.encode(`event: update\nid: ${version}\ndata: ${data}\n\n`);
  return { version, finished: isFinished(record), bytes };
}

/**
 * Streams a run's state and then its changes after version `seen`, until it is finished or gone (`latest` returns null).
 * Nothing is produced before the reader asks for it: a slow reader misses states in between but delays no other.
 */
export function streamEvents(
  latest: () => RunEventBytes | null,
  changes: Pick<Changes, "wait">,
  seen: number,
  times: EventTimes = EVENT_TIMES,
  onCancel: () => void = () => {},
): ReadableStream<Uint8Array> {
  let left = false;
  let due = Date.now();
  let silent = due + times.heartbeat;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const event = latest();
          if (left) return;
          if (!event) return controller.close();
          const now = Date.now();
          const fresh = event.version > seen;
          if (fresh && (event.finished || now >= due)) {
            seen = event.version;
            due = now + times.between;
            silent = now + times.heartbeat;
            controller.enqueue(event.bytes);
            if (event.finished) controller.close();
            return;
          }
          if (event.finished) return controller.close();
          if (now >= silent) {
            silent = now + times.heartbeat;
            return controller.enqueue(COMMENT);
          }
          await changes.wait((fresh ? Math.min(due, silent) : silent) - now);
        }
      },
      cancel() {
        left = true;
        onCancel();
      },
    },
    { highWaterMark: 0 },
  );
}
