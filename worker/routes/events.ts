import { streamSSE } from "hono/streaming";
import { updateOf } from "../../src/client/progress.ts";
import type { Update } from "../../src/client/update.ts";
import { MediaError } from "../../src/core/errors.ts";
import type { Task } from "../../src/core/task.ts";
import { isFinished } from "../../src/core/transitions.ts";
import * as docs from "../docs/tasks.ts";
import { type Api, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import type { Services } from "../services.ts";

// Proxies drop what is silent for a minute, or half of one.
const HEARTBEAT_MS = 15_000;
const BETWEEN_MS = 1000;

/** Adds the route that follows a task by server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function addEventRoutes(app: Api, { tasks }: Services): void {
  serve(app, docs.taskEvents, async (c) => {
    const project = c.get("project");
    const id = idInPath(c, "task");
    let seen = readLastEventId(c.req.header("Last-Event-ID"));
    const now = await tasks.next(project, id, -1, 0);
    if (!now) throw new MediaError("task_not_found", "There is no task with that id.");
    // A page's EventSource asks again when the stream has ended, and takes this as the end.
    if (isFinished(now.record) && now.version <= seen) return c.body(null, 204);
    c.header("X-Accel-Buffering", "no");
    return streamSSE(c, async (stream) => {
      let last: Update<Task> | null = null;
      while (!stream.aborted) {
        const found = await tasks.next(project, id, seen, HEARTBEAT_MS);
        // It was deleted.
        if (!found) return;
        if (found.version <= seen) {
          await stream.write(": still here\n\n");
          continue;
        }
        seen = found.version;
        last = updateOf(found.record, last);
        await stream.writeSSE({ event: "update", id: String(seen), data: JSON.stringify(last) });
        if (isFinished(found.record)) return;
        await stream.sleep(BETWEEN_MS);
      }
    });
  });
}

function readLastEventId(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const param = "Last-Event-ID";
  throw new MediaError("request_invalid", `${param} must be the id of an event of this task.`, { param });
}
