import { MediaError } from "../../src/core/errors.ts";
import { parseStepRequest } from "../../src/core/requests.ts";
import { createStep } from "../../src/core/step.ts";
import * as docs from "../docs/steps.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, idInPath } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import type { FoundStep } from "../runs.ts";
import type { Services } from "../services.ts";
import { checkStepAccess, reserveConnection } from "./check-access.ts";
import { answerList, readListQuery } from "./lists.ts";

/** Adds the routes of steps: those that stand alone, and to read also those of a task. */
export function addStepRoutes(app: Api, services: Services): void {
  const { steps, settings, id, now } = services;

  async function find(project: string, id: string): Promise<FoundStep> {
    const found = await services.findStep(project, id);
    if (!found) throw new MediaError("step_not_found", "There is no step with that id.");
    return found;
  }

  serve(app, docs.createStep, async (c) => {
    const { kind, input, options } = parseStepRequest(await readJson(c.req.raw));
    const need = await checkStepAccess({ kind, input, options }, services);
    const step = createStep(kind, id, now(), { input, options });
    await reserveConnection(services, c.get("project"), step.id, need);
    return c.json(await steps.create(c.get("project"), step, baseUrl(c, settings)), 201);
  });

  serve(app, docs.listSteps, async (c) => {
    const query = readListQuery(c.req.url, "step");
    return answerList(c, baseUrl(c, settings), query, await steps.list(c.get("project"), query));
  });

  serve(app, docs.getStep, async (c) => {
    return c.json((await find(c.get("project"), idInPath(c, "step"))).step);
  });

  serve(app, docs.cancelStep, async (c) => {
    const { step, task_id } = await find(c.get("project"), idInPath(c, "step"));
    if (task_id !== null) {
      throw new MediaError(
        "request_invalid",
        `The step belongs to a task; cancel that: POST /tasks/${task_id}/cancel.`,
      );
    }
    return c.json(await steps.cancel(c.get("project"), step.id));
  });
}
