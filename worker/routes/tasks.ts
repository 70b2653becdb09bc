import type { Context } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import type { CreateId } from "../../src/core/ids.ts";
import { awaitedBy, neverMade } from "../../src/core/jobs/after.ts";
import { parseTaskRequest, type TaskRequest } from "../../src/core/requests.ts";
import { isEncrypted, keyIn, withKey } from "../../src/core/streams/encryption.ts";
import { createTask, requestOf, type Task } from "../../src/core/task.ts";
import { isFinished } from "../../src/core/transitions.ts";
import { openKey } from "../connections/content-key.ts";
import * as docs from "../docs/tasks.ts";
import { readJson } from "../http/body.ts";
import { type Api, type ApiEnv, baseUrl, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import { creating } from "../idempotency/creating.ts";
import type { Services } from "../services.ts";
import { checkTaskAccess } from "./check-access.ts";
import { createRun } from "./create-run.ts";
import { answerList, readListQuery } from "./lists.ts";

/** Adds the routes of tasks. */
export function addTaskRoutes(app: Api, services: Services): void {
  const { tasks, settings, id, now } = services;

  const unknown = () => new MediaError("task_not_found", "There is no task with that id.");

  async function find(project: string, id: string): Promise<Task> {
    const task = await tasks.get(project, id);
    if (!task) throw unknown();
    return task;
  }

  async function create(request: TaskRequest, c: Context<ApiEnv>, task_id: string): Promise<Task> {
    // A host that was allowed for a task before may not be allowed now.
    const need = await checkTaskAccess(request, c.get("project"), services);
    const ids: CreateId = (sort, at) => (sort === "task" ? task_id : id(sort, at));
    const { webhook_url } = request;
    const content_key = keyIn(request);
    const task = createTask(request, ids, now());
    return createRun(c, services, tasks, task, { need, webhook_url, content_key });
  }

  async function keyOf(project: string, id: string): Promise<string> {
    const sealed = await tasks.sealedKey(project, id);
    const key = sealed && (await openKey(services.seal, sealed, id));
    if (key) return key;
    const message = "The key of the task's encryption is no longer stored; create the task again with it.";
    throw new MediaError("invalid_options", message, { param: "options.encryption.key" });
  }

  // A task that did not start may still have the job's input in place of the output that it waited for.
  async function inputOf(project: string, task: Task): Promise<string> {
    const after = awaitedBy(task);
    if (after === null) return task.input;
    const first = await tasks.get(project, after);
    if (first?.status === "succeeded" && first.output !== null) return first.output;
    throw neverMade(after);
  }

  const creatingTask = (read: (request: Request, c: Context<ApiEnv>) => Promise<TaskRequest>) =>
    creating<Task>(services, {
      sort: "task",
      make: async (request, c, id) => create(await read(request, c), c, id),
      find: (project, id) => tasks.get(project, id),
    });

  serve(
    app,
    docs.createTask,
    creatingTask(async (request) => parseTaskRequest(await readJson(request))),
  );

  serve(app, docs.listTasks, async (c) => {
    const query = readListQuery(c.req.url, "task");
    return answerList(c, baseUrl(c, settings), query, await tasks.list(c.get("project"), query));
  });

  serve(app, docs.getTask, async (c) => {
    const text = await tasks.read(c.get("project"), idInPath(c, "task"));
    if (text === null) throw unknown();
    // The stored text passes through as it is.
    return c.body(text, 200, { "Content-Type": "application/json" });
  });

  serve(app, docs.cancelTask, async (c) => {
    return c.json(await tasks.cancel(c.get("project"), idInPath(c, "task")));
  });

  serve(
    app,
    docs.retryTask,
    creatingTask(async (_, c) => {
      const before = await find(c.get("project"), idInPath(c, "task"));
      if (!isFinished(before)) throw new MediaError("task_running", "The task still runs; cancel it first.");
      const webhook_url = await tasks.webhookUrl(c.get("project"), before.id);
      const input = await inputOf(c.get("project"), before);
      const request = { ...requestOf(before), input, ...(webhook_url !== null && { webhook_url }) };
      return isEncrypted(before) ? withKey(request, await keyOf(c.get("project"), before.id)) : request;
    }),
  );

  serve(app, docs.deleteTask, async (c) => {
    await tasks.delete(c.get("project"), idInPath(c, "task"));
    return c.body(null, 204);
  });
}
