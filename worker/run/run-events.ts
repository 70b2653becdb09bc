import { createPace } from "../../src/client/progress.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import { createChanges } from "./changes.ts";
import { type RunEventBytes, streamEvents, writeEvent } from "./event-stream.ts";
import type { RunRow } from "./run-row.ts";

/** The events of one run for all that follow it. */
export interface RunEvents {
  /** Streams how the run stands and its changes above the version `seen`; `over` when its end was seen, null when it is not this project's. */
  follow(project: string, seen: number): ReadableStream<Uint8Array> | "over" | null;
  /** Notifies all followers of a change. */
  changed(): void;
}

/** Creates {@link RunEvents}: however many followers there are, a state is read and serialized once. */
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
    follow(project, seen) {
      const row = read();
      if (row?.project !== project) return null;
      if (isFinished(row.record) && row.version <= seen) return "over";
      return streamEvents(latest, changes, seen);
    },
    changed() {
      event = null;
      changes.tell();
    },
  };
}
