import { followJob } from "../../src/client/progress.ts";
import { readEvents } from "../../src/client/remote/read-events.ts";
import type { Update } from "../../src/client/update.ts";
import type { Job } from "../../src/runs/job.ts";
import type { Task } from "../../src/runs/task.ts";
import { isFinished } from "../../src/runs/transitions.ts";
import { logFault } from "../observability/log.ts";
import { createChanges } from "../run/changes.ts";
import { type RunEventBytes, streamEvents } from "../run/event-stream.ts";

const encoder = new TextEncoder();

/** Streams a job and its changes as server-sent events, from those of its tasks, which `open` returns; null for one that is gone. */
export function streamJob(
  job: Job,
  open: (task: Task) => Promise<ReadableStream<Uint8Array> | "over" | null>,
): ReadableStream<Uint8Array> {
  const changes = createChanges();
  let latest: RunEventBytes | null = { version: 0, finished: false, bytes: new Uint8Array() };
  let version = 0;
  const left = new AbortController();
  const updates = followJob(job, (task, signal) =>
    updatesIn(() => open(task), AbortSignal.any([signal, left.signal])),
  );
  async function follow(): Promise<void> {
    try {
      for await (const update of updates) {
        const { record } = update;
        // A client that has seen an earlier change connects again for the end; one that has seen the end has its id.
        const id = isFinished(record) ? record.updated_at : 0;
        const text = `event: update\nid: ${id}\ndata: ${JSON.stringify(update)}\n\n`;
        latest = { version: ++version, finished: isFinished(record), bytes: encoder.encode(text) };
        changes.tell();
      }
    } catch (thrown) {
      logFault("job not followed", thrown, { job: job.id });
    }
    // A client that was not told of the end connects again.
    if (!latest?.finished) latest = null;
    changes.tell();
  }
  void follow();
  return streamEvents(
    () => latest,
    changes,
    0,
    undefined,
    () => left.abort(),
  );
}

async function* updatesIn(
  open: () => Promise<ReadableStream<Uint8Array> | "over" | null>,
  signal: AbortSignal,
): AsyncGenerator<Update<Task>, void> {
  const body = await open();
  if (!body || body === "over") return;
  // A reader that has left must not hold the streams of tasks that are silent.
  const events = readEvents(body.pipeThrough(new TransformStream(), { signal }));
  try {
    for await (const { event, data } of events) if (event === "update") yield JSON.parse(data);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}
