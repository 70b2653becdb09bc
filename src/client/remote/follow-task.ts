import { MediaError } from "../../core/errors.ts";
import { Task as TaskSchema } from "../../core/task.ts";
import { isFinished } from "../../core/transitions.ts";
import { sleep } from "../../util/async.ts";
import { updateOf } from "../progress.ts";
import { TaskUpdate, type Update } from "../update.ts";
import { type Http, parseAnswer, pauseMs } from "./http.ts";
import { readEvents } from "./read-events.ts";

// Three heartbeats of the service: a connection that is silent for longer is lost.
const SILENT_MS = 45_000;

/**
 * Yields the updates of a task as the service sends them, until it is finished. When the connection breaks, reconnects and
 * resumes after the last event seen, however long the service is away. Rejects with `task_not_found`, or with the signal's
 * reason.
 */
export async function* followTask(
  { call, open }: Http,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<Update<TaskSchema>, void> {
  let last: Update<TaskSchema> | null = null;
  let seen = "";
  for (let fruitless = 1; ; fruitless++) {
    const headers = { Accept: "text/event-stream", ...(seen !== "" && { "Last-Event-ID": seen }) };
    const response = await open({ method: "GET", path: `${path}/events`, headers, signal, patient: true });
    // The final event was sent, even if it did not arrive.
    if (response.status === 204 || !response.body) {
      const { value } = await call({ method: "GET", path, signal, patient: true }, TaskSchema);
      return yield updateOf(value, last);
    }
    try {
      for await (const { event, id, data } of readEvents(response.body, SILENT_MS)) {
        if (event !== "update") continue;
        const update = parseAnswer(data, TaskUpdate);
        last = { ...update, error: update.record.error };
        seen = id;
        fruitless = 0;
        yield last;
        if (isFinished(last.record)) return;
      }
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof MediaError) throw thrown;
    }
    if (fruitless > 0) await sleep(pauseMs(fruitless), signal);
  }
}
