import type { Context } from "hono";
import { keyIn } from "../../src/media/features/encryption.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createJobTasks, Job } from "../../src/runs/job.ts";
import { JobRequest, parseJobRequest } from "../../src/runs/job-request.ts";
import type { Task } from "../../src/runs/task.ts";
import { applyToTask, describeJob } from "../../src/runs/transitions.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Api, type ApiEnv, baseUrl, idInPath, serve } from "../http/context.ts";
import { countCreation, takeWaitQuota } from "../limits/limits.ts";
import type { Services } from "../services.ts";
import { creationHandler } from "./creation.ts";
import { answerList, listParameters, readListQuery } from "./lists.ts";
import { checkTaskAccess, checkWebhook, outputNeed, reserveConnection } from "./new-run.ts";
import { idParameter, operation, RUN_REQUEST_ERRORS } from "./openapi.ts";

const NOW = Date.UTC(2026, 10, 20, 9, 31);

const JOB_REQUEST = {
  input: "https://example.com/clip.mov",
  outputs: [
    { name: "large", kind: "video", options: { height: 1080 } },
    { name: "small", kind: "video", options: { height: 360 }, after: "large" },
    { name: "poster", kind: "image", options: { format: "jpeg", start: 2 } },
    { name: "sound", kind: "audio", options: { format: "mp3" } },
  ],
} as const;

const head = { id: "job_01kaggm8q0fzr2n5v3x7c1d9jc", input: JOB_REQUEST.input, created_at: NOW };
const tasks = createJobTasks(
  head,
  parseJobRequest(JOB_REQUEST),
  createIds(() => 0.5),
);

/** The example of a queued job. */
export const QUEUED_JOB: Job = describeJob(head, tasks);
const CANCELLED_JOB: Job = describeJob(
  head,
  tasks.map((task) => applyToTask(task, { type: "cancelled" }, NOW + 3000)),
);

const tag = "Jobs";
const one = idParameter("job", QUEUED_JOB.id);

/** Adds the routes of jobs. */
export function addJobRoutes(app: Api, services: Services): void {
  const { jobs, settings, id, now } = services;

  async function create(request: JobRequest, c: Context<ApiEnv>, job_id: string): Promise<Job> {
    const project = c.get("project");
    const { webhook_url, input, outputs } = request;
    const needs = await Promise.all(
      outputs.map(async ({ request, after }, index) => {
        const prefix = `outputs.${index}.`;
        const need = await checkTaskAccess(request, project, services, prefix);
        const bucket = after === null ? undefined : outputs[after]?.request.output;
        // Only the default connection reads the bucket that will hold this input.
        return bucket === undefined ? need : outputNeed(prefix);
      }),
    );
    await checkWebhook({ webhook_url }, project, services);
    // The handler has counted one already.
    countCreation(c, services.limits, outputs.length - 1);
    await takeWaitQuota(c, services.limits, outputs.length);
    const head = { id: job_id, input, created_at: now() };
    const tasks = createJobTasks(head, request, id);
    for (const [index, task] of tasks.entries())
      await reserveConnection(services, project, task.id, needs[index] ?? null);
    const shared = needs.find((need, index) => need?.param === "input" && outputs[index]?.after === null);
    await reserveConnection(services, project, job_id, shared ?? null);
    const keys = await sealKeys(request, tasks, services);
    const setup = { base: baseUrl(c, settings), key_id: c.get("principal").id, webhook_url };
    return jobs.create({ project, head, tasks, made: setup, keys });
  }

  serve(
    app,
    operation({
      method: "post",
      path: "/jobs",
      operationId: "createJob",
      creates: true,
      tag,
      summary: "Create a job",
      description:
        "Creates a task for each of up to 10 outputs of one media file, all of them or none. The file is probed once, and read once for all; each task can be followed, cancelled, retried and deleted by itself, and one that fails does not affect the others. An output with `after` waits for another output and takes that one's file as its input. Every output counts as a creation. When the last task ends, the job has an event of its own: `job.succeeded`, `job.failed` or `job.cancelled`.",
      body: { schema: JobRequest, examples: { job: JOB_REQUEST } },
      answers: {
        201: {
          description: "The job, with its queued tasks.",
          schema: Job,
          examples: { queued: QUEUED_JOB },
        },
      },
      errors: [...RUN_REQUEST_ERRORS, "payload_too_large"],
    }),
    creationHandler<Job>(services, {
      sort: "job",
      create: async (request, c, id) => create(parseJobRequest(await readJson(request)), c, id),
      find: (project, id) => jobs.get(project, id),
    }),
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/jobs",
      operationId: "listJobs",
      tag,
      summary: "List jobs",
      description: "Returns the project's jobs, newest first, each with its tasks.",
      parameters: listParameters("job", null, null, QUEUED_JOB.id),
      answers: {
        200: {
          description: "A page of jobs.",
          schema: Job,
          many: true,
          examples: { page: [QUEUED_JOB], empty: [] },
          headers: ["Link", "Has-More"],
        },
      },
      errors: ["request_invalid"],
    }),
    async (c) => {
      const query = readListQuery(c.req.url, "job");
      return answerList(c, baseUrl(c, settings), query, await jobs.list(c.get("project"), query));
    },
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/jobs/{id}",
      operationId: "getJob",
      tag,
      summary: "Get a job",
      description: "Returns a job with its tasks in their current state.",
      parameters: one,
      answers: { 200: { description: "The job.", schema: Job, examples: { queued: QUEUED_JOB } } },
      errors: ["job_not_found"],
    }),
    async (c) => {
      const job = await jobs.get(c.get("project"), idInPath(c, "job"));
      if (!job) throw errors.notFound("job");
      return c.json(job);
    },
  );

  serve(
    app,
    operation({
      method: "post",
      path: "/jobs/{id}/cancel",
      operationId: "cancelJob",
      tag,
      summary: "Cancel a job",
      description: "Cancels every task of the job that is not finished.",
      parameters: one,
      answers: {
        200: { description: "The job, cancelled.", schema: Job, examples: { cancelled: CANCELLED_JOB } },
      },
      errors: ["job_not_found", "job_finished"],
    }),
    async (c) => c.json(await jobs.cancel(c.get("project"), idInPath(c, "job"))),
  );

  serve(
    app,
    operation({
      method: "delete",
      path: "/jobs/{id}",
      operationId: "deleteJob",
      tag,
      summary: "Delete a job",
      description: "Removes a finished job with its tasks and their outputs in managed storage.",
      parameters: one,
      answers: { 204: { description: "The job is gone." } },
      errors: ["job_not_found", "job_running"],
    }),
    async (c) => {
      await jobs.delete(c.get("project"), idInPath(c, "job"));
      return c.body(null, 204);
    },
  );
}

async function sealKeys(
  { outputs }: JobRequest,
  tasks: readonly Task[],
  { seal }: Pick<Services, "seal">,
): Promise<Record<string, string>> {
  const keys = tasks.map(async ({ id }, index): Promise<[string, string][]> => {
    const key = keyIn(outputs[index]?.request);
    return key === null ? [] : [[id, await seal.seal(key, id)]];
  });
  return Object.fromEntries((await Promise.all(keys)).flat());
}
