import type { Context } from "hono";
import { MediaError } from "../../src/core/errors.ts";
import { parseStepRequest } from "../../src/core/requests.ts";
import { createStep, type Step } from "../../src/core/step.ts";
import { keyIn } from "../../src/core/streams/encryption.ts";
import * as docs from "../docs/steps.ts";
import { readJson } from "../http/body.ts";
import { type Api, type ApiEnv, baseUrl, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import { creating } from "../idempotency/creating.ts";
import type { FoundStep } from "../run/runs.ts";
import type { Services } from "../services.ts";
import { checkStepAccess } from "./check-access.ts";
import { createRun } from "./create-run.ts";
import { answerList, readListQuery } from "./lists.ts";

/** Adds the routes of steps: those that stand alone, and to read also those of a task. */
export function addStepRoutes(app: Api, services: Services): void {
  const { steps, settings, now } = services;

  async function find(project: string, id: string): Promise<FoundStep> {
    const found = await services.findStep(project, id);
    if (!found) throw new MediaError("step_not_found", "There is no step with that id.");
    return found;
  }

  serve(
    app,
    docs.createStep,
    creating<Step>(services, {
      sort: "step",
      async make(request, c, id) {
        const asked = parseStepRequest(await readJson(request));
        const { webhook_url, ...start } = asked;
        const need = await checkStepAccess(asked, c.get("project"), services);
        const step = createStep(start, () => id, now());
        return createRun(c, services, steps, step, { need, webhook_url, content_key: keyIn(asked) });
      },
      find: (project, id) => steps.get(project, id),
    }),
  );

  serve(app, docs.listSteps, async (c) => {
    const query = readListQuery(c.req.url, "step");
    return answerList(c, baseUrl(c, settings), query, await steps.list(c.get("project"), query));
  });

  serve(app, docs.getStep, async (c) => {
    return c.json((await find(c.get("project"), idInPath(c, "step"))).step);
  });

  async function findAlone(c: Context<ApiEnv>, instead: (task_id: string) => string): Promise<Step> {
    const { step, task_id } = await find(c.get("project"), idInPath(c, "step"));
    if (task_id === null) return step;
    throw new MediaError("request_invalid", `The step belongs to a task; ${instead(task_id)}.`);
  }

  serve(app, docs.cancelStep, async (c) => {
    const { id } = await findAlone(c, (task) => `cancel that: POST /tasks/${task}/cancel`);
    return c.json(await steps.cancel(c.get("project"), id));
  });

  serve(app, docs.deleteStep, async (c) => {
    const { id } = await findAlone(c, (task) => `delete that: DELETE /tasks/${task}`);
    await steps.delete(c.get("project"), id);
    return c.body(null, 204);
  });
}
