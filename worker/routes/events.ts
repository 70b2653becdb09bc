import type { Context } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import { jobEvents } from "../docs/jobs.ts";
import { taskEvents } from "../docs/tasks.ts";
import { type Api, type ApiEnv, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import type { Services } from "../services.ts";

/** Adds the routes that follow a task or a job by server-sent events. */
export function addEventRoutes(app: Api, { tasks, jobs }: Services): void {
  serve(app, taskEvents, (c) => answer(c, "task", tasks));
  serve(app, jobEvents, (c) => answer(c, "job", jobs));
}

async function answer(
  c: Context<ApiEnv>,
  object: "task" | "job",
  { follow }: Pick<Services["jobs"], "follow">,
): Promise<Response> {
  const seen = readLastEventId(c.req.header("Last-Event-ID"));
  const events = await follow(c.get("project"), idInPath(c, object), seen);
  if (!events) throw new MediaError(`${object}_not_found`, `There is no ${object} with that id.`);
  // A page's EventSource asks again when the stream has ended, and takes this as the end.
  if (events === "over") return c.body(null, 204);
  c.header("Content-Type", "text/event-stream");
  c.header("X-Accel-Buffering", "no");
  return c.body(events);
}

function readLastEventId(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const param = "Last-Event-ID";
  throw new MediaError("request_invalid", `${param} must be the id of one of these events.`, { param });
}
