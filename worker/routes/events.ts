import { MediaError } from "../../src/core/errors.ts";
import * as docs from "../docs/tasks.ts";
import { type Api, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import type { Services } from "../services.ts";

/** Adds the route that follows a task by server-sent events. */
export function addEventRoutes(app: Api, { tasks }: Services): void {
  serve(app, docs.taskEvents, async (c) => {
    const seen = readLastEventId(c.req.header("Last-Event-ID"));
    const events = await tasks.follow(c.get("project"), idInPath(c, "task"), seen);
    if (!events) throw new MediaError("task_not_found", "There is no task with that id.");
    // A page's EventSource asks again when the stream has ended, and takes this as the end.
    if (events === "over") return c.body(null, 204);
    c.header("Content-Type", "text/event-stream");
    c.header("X-Accel-Buffering", "no");
    return c.body(events);
  });
}

function readLastEventId(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const param = "Last-Event-ID";
  throw new MediaError("request_invalid", `${param} must be the id of an event of this task.`, { param });
}
