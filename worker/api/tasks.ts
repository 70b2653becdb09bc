import type { Context } from "hono";
import { isEncrypted, keyIn, withKey } from "../../src/media/features/encryption.ts";
import { ENCODE_KINDS, type EncodeKind } from "../../src/media/formats.ts";
import type { Source } from "../../src/media/source.ts";
import * as runErrors from "../../src/runs/errors.ts";
import { type CreateId, createIds } from "../../src/runs/ids.ts";
import { parseTaskRequest, TaskRequest } from "../../src/runs/requests.ts";
import { createTask, requestOf, TASK_STATUSES, Task } from "../../src/runs/task.ts";
import { applyToTask, awaitedTask, isFinished } from "../../src/runs/transitions.ts";
import { openKey } from "../connections/seal.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Api, type ApiEnv, baseUrl, idInPath, serve } from "../http/context.ts";
import type { Services } from "../services.ts";
import { creationHandler } from "./creation.ts";
import { answerList, listParameters, readListQuery } from "./lists.ts";
import { checkTaskAccess, createRun } from "./new-run.ts";
import { idParameter, operation, RUN_REQUEST_ERRORS } from "./openapi.ts";

const tag = "Tasks";

/** Time at which the examples are created. */
export const EXAMPLE_TIME = Date.UTC(2026, 10, 20, 9, 30);
/** Creates the ids of the examples. */
export const exampleId = createIds(createGenerator());

const TASK_REQUESTS = {
  video: {
    input: "https://example.com/clip.mov",
    kind: "video",
    options: {
      format: "webm",
      codec: "vp9",
      width: 1280,
      height: 720,
      fit: "contain",
      background: "#000000",
    },
    metadata: { order: 1234 },
  },
  audio: {
    input: "https://example.com/clip.mov",
    kind: "audio",
    options: { format: "mp3", bitrate: 192_000, start: 1.5, end: 31.5 },
  },
  image: {
    input: "https://example.com/clip.mov",
    kind: "image",
    options: { format: "jpeg", quality: "high", width: "50%", start: 2 },
  },
  animation: {
    input: "https://example.com/clip.mov",
    kind: "animation",
    options: { format: "gif", width: 480, fps: 12, start: 2, end: 5 },
  },
  storyboard: {
    input: "https://example.com/clip.mov",
    kind: "storyboard",
    options: { interval: 5, width: 160, columns: 5, rows: 5 },
  },
  waveform: {
    input: "https://example.com/clip.mov",
    kind: "waveform",
    options: { format: "json", pixels_per_second: 100, bits: 8 },
  },
  adaptive_video: {
    input: "https://example.com/clip.mov",
    kind: "adaptive_video",
    options: { format: "hls", height: 720 },
  },
} as const satisfies Record<EncodeKind, unknown>;

/** The example of a probe's output. */
export const EXAMPLE_SOURCE: Source = {
  object: "source",
  url: "https://example.com/clip.mov",
  kind: "video",
  format: "mov",
  mime: "video/quicktime",
  filesize: 8_423_117,
  width: 1920,
  height: 1080,
  duration: 34.2,
  codecs: { video: "h264", audio: "aac" },
  fps: 30,
  bitrate: 1_970_320,
  audio: { channels: 2, sample_rate: 48_000 },
};

/** The example of a queued task. */
export const QUEUED_TASK: Task = createTask(parseTaskRequest(TASK_REQUESTS.video), exampleId, EXAMPLE_TIME);
const PROCESSING_TASK = runSteps(QUEUED_TASK, 2, 47);
/** The example of a successful task. */
export const SUCCEEDED_TASK: Task = runSteps(QUEUED_TASK, 4);
const FAILED_TASK = failFirstStep(QUEUED_TASK);
const CANCELLED_TASK = applyToTask(PROCESSING_TASK, { type: "cancelled" }, EXAMPLE_TIME + 9000);
const RETRIED_TASK = createTask(requestOf(FAILED_TASK), exampleId, EXAMPLE_TIME + 5000);

const one = idParameter("task", QUEUED_TASK.id);

/** Adds the routes of tasks. */
export function addTaskRoutes(app: Api, services: Services): void {
  const { tasks, settings, id, now } = services;

  async function create(request: TaskRequest, c: Context<ApiEnv>, task_id: string): Promise<Task> {
    const need = await checkTaskAccess(request, c.get("project"), services);
    const ids: CreateId = (sort, at) => (sort === "task" ? task_id : id(sort, at));
    const task = createTask(request, ids, now());
    const { webhook_url } = request;
    return createRun(c, services, tasks, task, { need, webhook_url, content_key: keyIn(request) });
  }

  async function keyOf(project: string, id: string): Promise<string> {
    const sealed = await tasks.sealedKey(project, id);
    const key = sealed && (await openKey(services.seal, sealed, id));
    if (key) return key;
    throw errors.encryptionKeyLost();
  }

  // A task that never started may still name its job's input, not the output that it waits for.
  async function inputOf(project: string, task: Task): Promise<string> {
    const after = awaitedTask(task);
    if (after === null) return task.input;
    const first = await tasks.get(project, after);
    if (first?.status === "succeeded" && first.output !== null) return first.output;
    throw runErrors.inputNeverMade({ task: after });
  }

  const createFrom = (read: (request: Request, c: Context<ApiEnv>) => Promise<TaskRequest>) =>
    creationHandler<Task>(services, {
      sort: "task",
      create: async (request, c, id) => create(await read(request, c), c, id),
      find: (project, id) => tasks.get(project, id),
    });

  serve(
    app,
    operation({
      method: "post",
      path: "/tasks",
      operationId: "createTask",
      creates: true,
      tag,
      summary: "Create a task",
      description: "Creates a task that runs the pipeline probe, ingest, encode, upload over one media file.",
      body: { schema: TaskRequest, examples: TASK_REQUESTS },
      answers: {
        201: { description: "The task, queued.", schema: Task, examples: { queued: QUEUED_TASK } },
      },
      errors: [...RUN_REQUEST_ERRORS, "payload_too_large"],
    }),
    createFrom(async (request) => parseTaskRequest(await readJson(request))),
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/tasks",
      operationId: "listTasks",
      tag,
      summary: "List tasks",
      description: "Returns the project's tasks, newest first.",
      parameters: listParameters("task", TASK_STATUSES, ENCODE_KINDS, QUEUED_TASK.id),
      answers: {
        200: {
          description: "A page of tasks.",
          schema: Task,
          many: true,
          examples: { page: [PROCESSING_TASK], empty: [] },
          headers: ["Link", "Has-More"],
        },
      },
      errors: ["request_invalid", "invalid_kind"],
    }),
    async (c) => {
      const query = readListQuery(c.req.url, "task");
      return answerList(c, baseUrl(c, settings), query, await tasks.list(c.get("project"), query));
    },
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/tasks/{id}",
      operationId: "getTask",
      tag,
      summary: "Get a task",
      description: "Returns a task with its steps in their current state.",
      parameters: one,
      answers: {
        200: {
          description: "The task.",
          schema: Task,
          examples: { processing: PROCESSING_TASK, succeeded: SUCCEEDED_TASK, failed: FAILED_TASK },
        },
      },
      errors: ["task_not_found"],
    }),
    async (c) => {
      const text = await tasks.read(c.get("project"), idInPath(c, "task"));
      if (text === null) throw errors.notFound("task");
      return c.body(text, 200, { "Content-Type": "application/json" });
    },
  );

  serve(
    app,
    operation({
      method: "post",
      path: "/tasks/{id}/cancel",
      operationId: "cancelTask",
      tag,
      summary: "Cancel a task",
      description: "Stops the work and removes everything that the task wrote.",
      parameters: one,
      answers: {
        200: { description: "The task, cancelled.", schema: Task, examples: { cancelled: CANCELLED_TASK } },
      },
      errors: ["task_not_found", "task_finished"],
    }),
    async (c) => c.json(await tasks.cancel(c.get("project"), idInPath(c, "task"))),
  );

  serve(
    app,
    operation({
      method: "post",
      path: "/tasks/{id}/retry",
      operationId: "retryTask",
      creates: true,
      tag,
      summary: "Retry a task",
      description:
        "Creates a new task from the request of a finished one, whatever its status. The finished task does not change.",
      parameters: one,
      answers: {
        201: { description: "The new task, queued.", schema: Task, examples: { queued: RETRIED_TASK } },
      },
      errors: ["invalid_input", "connection_required", "task_not_found", "task_running"],
    }),
    createFrom(async (_, c) => {
      const project = c.get("project");
      const task = await tasks.get(project, idInPath(c, "task"));
      if (!task) throw errors.notFound("task");
      if (!isFinished(task)) throw runErrors.running("task");
      const webhook_url = await tasks.webhookUrl(project, task.id);
      const input = await inputOf(project, task);
      const request = { ...requestOf(task), input, ...(webhook_url !== null && { webhook_url }) };
      return isEncrypted(task) ? withKey(request, await keyOf(project, task.id)) : request;
    }),
  );

  serve(
    app,
    operation({
      method: "delete",
      path: "/tasks/{id}",
      operationId: "deleteTask",
      tag,
      summary: "Delete a task",
      description: "Removes the record of a finished task and its output in managed storage.",
      parameters: one,
      answers: { 204: { description: "The task is gone." } },
      errors: ["task_not_found", "task_running"],
    }),
    async (c) => {
      await tasks.delete(c.get("project"), idInPath(c, "task"));
      return c.body(null, 204);
    },
  );
}

function runSteps(task: Task, count: number, progress?: number): Task {
  const outputs = outputsOf(task);
  return task.steps.slice(0, count + 1).reduce((before, { id: step_id }, index) => {
    const output = outputs[index];
    const input = outputs[index - 1] ?? { object: "external_file" as const, url: task.input };
    if (!output || (index === count && progress === undefined)) return before;
    const started = applyToTask(
      before,
      { type: "step_started", step_id, input },
      EXAMPLE_TIME + index * 2000,
    );
    if (index === count && progress !== undefined) {
      return applyToTask(started, { type: "step_progressed", step_id, progress }, EXAMPLE_TIME + 8000);
    }
    return applyToTask(
      started,
      { type: "step_succeeded", step_id, output },
      EXAMPLE_TIME + index * 2000 + 1900,
    );
  }, task);
}

function outputsOf(task: Task): Source[] {
  const base = "https://media.example/media/XrLQZS8Yh0pV3mJ6tB1nC7uKfA2dWgE4iR9oMxTsPqk.1795771800";
  const ingested: Source = { ...EXAMPLE_SOURCE, url: `${base}/work/${task.id}/input` };
  const encoded: Source = {
    object: "source",
    url: `${base}/out/${task.id}/clip.webm`,
    kind: "video",
    format: "webm",
    mime: "video/webm",
    filesize: 3_120_400,
    width: 1280,
    height: 720,
    duration: 34.2,
    codecs: { video: "vp9", audio: "opus" },
    encoder: "light",
    reason: "About 3 s of work.",
  };
  return [EXAMPLE_SOURCE, ingested, encoded, encoded];
}

function failFirstStep(task: Task): Task {
  const step_id = task.steps[0]?.id ?? "";
  const input = { object: "external_file" as const, url: task.input };
  const message = "The input answered 404: there is no such file.";
  const error = { kind: "input_not_found" as const, message, retryable: false };
  const started = applyToTask(task, { type: "step_started", step_id, input }, EXAMPLE_TIME + 200);
  return applyToTask(started, { type: "step_failed", step_id, error }, EXAMPLE_TIME + 450);
}

function createGenerator(): () => number {
  let state = 20_261_120;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
