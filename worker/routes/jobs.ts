import type { Context } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import type { Job } from "../../src/core/jobs/job.ts";
import { createJobTasks } from "../../src/core/jobs/job.ts";
import { type JobRequest, parseJobRequest } from "../../src/core/jobs/job-request.ts";
import { keyIn } from "../../src/core/streams/encryption.ts";
import type { Task } from "../../src/core/task.ts";
import * as docs from "../docs/jobs.ts";
import { readJson } from "../http/body.ts";
import { type Api, type ApiEnv, baseUrl, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import { creating } from "../idempotency/creating.ts";
import { countCreation, takeRoom } from "../limits/enforce.ts";
import type { Services } from "../services.ts";
import { checkWebhook } from "../webhooks/check-url.ts";
import { checkTaskAccess, reserveConnection } from "./check-access.ts";
import { answerList, readListQuery } from "./lists.ts";

/** Adds the routes of jobs. */
export function addJobRoutes(app: Api, services: Services): void {
  const { jobs, settings, id, now } = services;

  async function create(request: JobRequest, c: Context<ApiEnv>, job_id: string): Promise<Job> {
    const project = c.get("project");
    const { webhook_url, input, outputs } = request;
    const needs = await Promise.all(
      outputs.map(async ({ request, after }, index) => {
        const at = `outputs.${index}.`;
        const need = await checkTaskAccess(request, project, services, at);
        const from = after === null ? undefined : outputs[after]?.request.output;
        // The output that it waits for is in a bucket, which takes the default connection to read.
        return from === undefined ? need : { param: `${at}output`, what: "An S3 output" };
      }),
    );
    await checkWebhook({ webhook_url }, project, services);
    // The request itself counts as one.
    countCreation(c, services.limits, outputs.length - 1);
    await takeRoom(c, services.limits, outputs.length);
    const head = { id: job_id, input, created_at: now() };
    const tasks = createJobTasks(head, request, id);
    for (const [index, task] of tasks.entries())
      await reserveConnection(services, project, task.id, needs[index] ?? null);
    // The input is read on behalf of the job.
    const shared = needs.find((need, index) => need?.param === "input" && outputs[index]?.after === null);
    await reserveConnection(services, project, job_id, shared ?? null);
    const keys = await sealKeys(request, tasks, services);
    const made = { base: baseUrl(c, settings), key_id: c.get("principal").id, webhook_url };
    return jobs.create({ project, head, tasks, made, keys });
  }

  serve(
    app,
    docs.createJob,
    creating<Job>(services, {
      sort: "job",
      make: async (request, c, id) => create(parseJobRequest(await readJson(request)), c, id),
      find: (project, id) => jobs.get(project, id),
    }),
  );

  serve(app, docs.listJobs, async (c) => {
    const query = readListQuery(c.req.url, "job");
    return answerList(c, baseUrl(c, settings), query, await jobs.list(c.get("project"), query));
  });

  serve(app, docs.getJob, async (c) => {
    const job = await jobs.get(c.get("project"), idInPath(c, "job"));
    if (!job) throw new MediaError("job_not_found", "There is no job with that id.");
    return c.json(job);
  });

  serve(app, docs.cancelJob, async (c) => {
    return c.json(await jobs.cancel(c.get("project"), idInPath(c, "job")));
  });

  serve(app, docs.deleteJob, async (c) => {
    await jobs.delete(c.get("project"), idInPath(c, "job"));
    return c.body(null, 204);
  });
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
