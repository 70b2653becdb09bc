import type { Context } from "hono";
import type { z } from "zod";
import { TaskUpdate } from "../../src/client/update.ts";
import { JobUpdate } from "../../src/runs/job.ts";
import * as errors from "../errors.ts";
import { type Api, type ApiEnv, idInPath, serve } from "../http/context.ts";
import type { Services } from "../services.ts";
import { QUEUED_JOB } from "./jobs.ts";
import { idParameter, operation, type Parameter, ref } from "./openapi.ts";
import { QUEUED_TASK } from "./tasks.ts";

const lastEventId: Parameter[] = [
  {
    name: "Last-Event-ID",
    in: "header",
    description: "The last event seen.",
    schema: { type: "string", examples: ["3"] },
  },
];

/** Adds the routes that follow a task or a job by server-sent events. */
export function addEventStreamRoutes(app: Api, { tasks, jobs }: Services): void {
  serve(
    app,
    operation({
      method: "get",
      path: "/tasks/{id}/events",
      operationId: "taskEvents",
      tag: "Tasks",
      summary: "Follow a task",
      description:
        "Server-sent events: the current state of the task, then its changes, at most one a second, until it is finished; the last one is sent immediately. `data` is a TaskUpdate, and `id` its version, from which a broken connection resumes (`Last-Event-ID`). A comment every 15 seconds keeps the connection open. A request after the last event gets 204.",
      parameters: [...idParameter("task", QUEUED_TASK.id), ...lastEventId],
      answers: {
        200: {
          description: "The events.",
          content: { "text/event-stream": { schema: eventsOf(TaskUpdate) } },
        },
        204: { description: "The last event was seen already." },
      },
      errors: ["request_invalid", "task_not_found"],
    }),
    (c) => answer(c, "task", tasks),
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/jobs/{id}/events",
      operationId: "jobEvents",
      tag: "Jobs",
      summary: "Follow a job",
      description:
        "Server-sent events: the current state of the job, then the changes of its tasks, at most one a second, until all are finished; the last one is sent immediately. `data` is a JobUpdate. A resumed connection (`Last-Event-ID`) begins with the current state; a request after the last event gets 204. A comment every 15 seconds keeps the connection open.",
      parameters: [...idParameter("job", QUEUED_JOB.id), ...lastEventId],
      answers: {
        200: {
          description: "The events.",
          content: { "text/event-stream": { schema: eventsOf(JobUpdate) } },
        },
        204: { description: "The last event was seen already." },
      },
      errors: ["request_invalid", "job_not_found"],
    }),
    (c) => answer(c, "job", jobs),
  );
}

async function answer(
  c: Context<ApiEnv>,
  object: "task" | "job",
  { follow }: Pick<Services["jobs"], "follow">,
): Promise<Response> {
  const lastVersion = readLastEventId(c.req.header("Last-Event-ID"));
  const events = await follow(c.get("project"), idInPath(c, object), lastVersion);
  if (!events) throw errors.notFound(object);
  // An EventSource reconnects after a stream ends, until it gets a 204.
  if (events === "over") return c.body(null, 204);
  c.header("Content-Type", "text/event-stream");
  c.header("X-Accel-Buffering", "no");
  return c.body(events);
}

function readLastEventId(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw errors.lastEventIdMalformed();
}

// `contentSchema` is of JSON Schema 2020-12, which the types of OpenAPI lack.
function eventsOf(update: z.ZodType): { type: "string" } {
  return { type: "string", contentMediaType: "application/json", contentSchema: ref(update) } as {
    type: "string";
  };
}
