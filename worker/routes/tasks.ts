import { MediaError } from "../../src/core/errors.ts";
import { ENCODE_KINDS } from "../../src/core/formats.ts";
import { parseTaskRequest } from "../../src/core/requests.ts";
import { createTask, requestOf, TASK_STATUSES, type Task } from "../../src/core/task.ts";
import { isFinished } from "../../src/core/transitions.ts";
import * as docs from "../docs/tasks.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import type { Services } from "../services.ts";
import { checkTaskAccess } from "./check-access.ts";
import { answerList, parseListQuery } from "./lists.ts";

const LIST_RULES = { sort: "task", statuses: TASK_STATUSES, kinds: ENCODE_KINDS } as const;

/** Adds the routes of tasks. */
export function addTaskRoutes(app: Api, services: Services): void {
  const { tasks, settings, id, now } = services;

  async function find(project: string, id: string): Promise<Task> {
    const task = await tasks.get(project, id);
    if (!task) throw new MediaError("task_not_found", "There is no task with that id.");
    return task;
  }

  serve(app, docs.createTask, async (c) => {
    const request = parseTaskRequest(await readJson(c.req.raw));
    await checkTaskAccess(request, services);
    const task = createTask(request, id, now());
    return c.json(await tasks.create(c.get("project"), task, baseUrl(c, settings)), 201);
  });

  serve(app, docs.listTasks, async (c) => {
    const query = parseListQuery(c.req.url, LIST_RULES);
    return answerList(c, baseUrl(c, settings), query, await tasks.list(c.get("project"), query));
  });

  serve(app, docs.getTask, async (c) => {
    return c.json(await find(c.get("project"), idInPath(c, "task")));
  });

  serve(app, docs.cancelTask, async (c) => {
    return c.json(await tasks.cancel(c.get("project"), idInPath(c, "task")));
  });

  serve(app, docs.retryTask, async (c) => {
    const before = await find(c.get("project"), idInPath(c, "task"));
    if (!isFinished(before)) throw new MediaError("task_running", "The task still runs; cancel it first.");
    const request = requestOf(before);
    // A host that was allowed then may not be allowed now.
    await checkTaskAccess(request, services);
    const task = createTask(request, id, now());
    return c.json(await tasks.create(c.get("project"), task, baseUrl(c, settings)), 201);
  });

  serve(app, docs.deleteTask, async (c) => {
    await tasks.delete(c.get("project"), idInPath(c, "task"));
    return c.body(null, 204);
  });
}
