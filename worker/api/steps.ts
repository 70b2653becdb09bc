import type { Context } from "hono";
import { keyIn } from "../../src/media/features/encryption.ts";
import { STEP_KINDS, type StepKind } from "../../src/media/formats.ts";
import { parseStepRequest, StepRequest } from "../../src/runs/requests.ts";
import { createStep, STEP_STATUSES, Step } from "../../src/runs/step.ts";
import { applyToStep } from "../../src/runs/transitions.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Api, type ApiEnv, baseUrl, idInPath, serve } from "../http/context.ts";
import type { StepLocation } from "../run/runs.ts";
import type { Services } from "../services.ts";
import { creationHandler } from "./creation.ts";
import { answerList, listParameters, readListQuery } from "./lists.ts";
import { checkStepAccess, createRun } from "./new-run.ts";
import { idParameter, operation, RUN_REQUEST_ERRORS } from "./openapi.ts";
import { EXAMPLE_SOURCE, EXAMPLE_TIME, exampleId } from "./tasks.ts";

const tag = "Steps";

const STEP_REQUESTS = {
  probe: { kind: "probe", input: { url: "https://example.com/clip.mov" } },
  ingest: { kind: "ingest", input: { url: "https://example.com/clip.mov" } },
  video: { kind: "video", input: EXAMPLE_SOURCE, options: { format: "mp4", height: 720 } },
  audio: { kind: "audio", input: EXAMPLE_SOURCE, options: { format: "opus" } },
  image: { kind: "image", input: EXAMPLE_SOURCE, options: { format: "webp", width: 320 } },
  animation: { kind: "animation", input: EXAMPLE_SOURCE, options: { format: "webp", end: 3 } },
  storyboard: { kind: "storyboard", input: EXAMPLE_SOURCE, options: { interval: 5 } },
  waveform: { kind: "waveform", input: EXAMPLE_SOURCE, options: { format: "png", width: 1200, height: 200 } },
  adaptive_video: { kind: "adaptive_video", input: EXAMPLE_SOURCE, options: { format: "hls" } },
  upload: {
    kind: "upload",
    input: { object: "source", url: "https://example.com/clip.mov", kind: "video", format: "mov" },
    options: { url: "s3://my-bucket/clip.mov", connection_id: "conn_01kaggm8q0fzr2n5v3x7c1d9jb" },
  },
} as const satisfies Record<StepKind, unknown>;

const WAITING_STEP = createStep(parseStepRequest(STEP_REQUESTS.probe), exampleId, EXAMPLE_TIME);
/** The example of a successful standalone probe. */
export const SUCCEEDED_STEP: Step = runStep(WAITING_STEP);
const CANCELLED_STEP = applyToStep(WAITING_STEP, { type: "cancelled" }, EXAMPLE_TIME + 300);

const one = idParameter("step", WAITING_STEP.id);

/** Adds the routes of standalone steps, one of which also reads the steps of a task. */
export function addStepRoutes(app: Api, services: Services): void {
  const { steps, settings, now } = services;

  async function find(project: string, id: string): Promise<StepLocation> {
    const step = await services.findStep(project, id);
    if (!step) throw errors.notFound("step");
    return step;
  }

  serve(
    app,
    operation({
      method: "post",
      path: "/steps",
      operationId: "createStep",
      creates: true,
      tag,
      summary: "Create a step",
      description:
        "Creates a single operation without a task. The `output` of a finished step is the `input` of the next: probe a file, for example, then encode the result.",
      body: { schema: StepRequest, examples: STEP_REQUESTS },
      answers: {
        201: { description: "The step, waiting.", schema: Step, examples: { waiting: WAITING_STEP } },
      },
      errors: [...RUN_REQUEST_ERRORS, "connection_not_found", "payload_too_large"],
    }),
    creationHandler<Step>(services, {
      sort: "step",
      async create(request, c, id) {
        const { webhook_url, ...fields } = parseStepRequest(await readJson(request));
        const need = await checkStepAccess(fields, c.get("project"), services);
        const step = createStep(fields, () => id, now());
        return createRun(c, services, steps, step, { need, webhook_url, content_key: keyIn(fields) });
      },
      find: (project, id) => steps.get(project, id),
    }),
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/steps",
      operationId: "listSteps",
      tag,
      summary: "List steps",
      description: "Returns the project's standalone steps, newest first; a task contains its own steps.",
      parameters: listParameters("step", STEP_STATUSES, STEP_KINDS, WAITING_STEP.id),
      answers: {
        200: {
          description: "A page of steps.",
          schema: Step,
          many: true,
          examples: { page: [SUCCEEDED_STEP], empty: [] },
          headers: ["Link", "Has-More"],
        },
      },
      errors: ["request_invalid", "invalid_kind"],
    }),
    async (c) => {
      const query = readListQuery(c.req.url, "step");
      return answerList(c, baseUrl(c, settings), query, await steps.list(c.get("project"), query));
    },
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/steps/{id}",
      operationId: "getStep",
      tag,
      summary: "Get a step",
      description: "Returns a step in its current state, standalone or of a task.",
      parameters: one,
      answers: {
        200: {
          description: "The step.",
          schema: Step,
          examples: { waiting: WAITING_STEP, succeeded: SUCCEEDED_STEP },
        },
      },
      errors: ["step_not_found"],
    }),
    async (c) => c.json((await find(c.get("project"), idInPath(c, "step"))).step),
  );

  async function findStandalone(c: Context<ApiEnv>, method: "cancel" | "delete"): Promise<Step> {
    const { step, task_id } = await find(c.get("project"), idInPath(c, "step"));
    if (task_id === null) return step;
    throw errors.stepOfTask({ task_id, method });
  }

  serve(
    app,
    operation({
      method: "post",
      path: "/steps/{id}/cancel",
      operationId: "cancelStep",
      tag,
      summary: "Cancel a step",
      description: "Stops a standalone step. A step of a task is stopped by cancelling the task.",
      parameters: one,
      answers: {
        200: { description: "The step, cancelled.", schema: Step, examples: { cancelled: CANCELLED_STEP } },
      },
      errors: ["request_invalid", "step_not_found", "step_finished"],
    }),
    async (c) => {
      const { id } = await findStandalone(c, "cancel");
      return c.json(await steps.cancel(c.get("project"), id));
    },
  );

  serve(
    app,
    operation({
      method: "delete",
      path: "/steps/{id}",
      operationId: "deleteStep",
      tag,
      summary: "Delete a step",
      description:
        "Removes the record of a finished standalone step and its output in managed storage. A step of a task is removed by deleting the task.",
      parameters: one,
      answers: { 204: { description: "The step is removed." } },
      errors: ["request_invalid", "step_not_found", "step_running"],
    }),
    async (c) => {
      const { id } = await findStandalone(c, "delete");
      await steps.delete(c.get("project"), id);
      return c.body(null, 204);
    },
  );
}

function runStep(step: Step): Step {
  const started = applyToStep(
    step,
    { type: "step_started", step_id: step.id, input: step.input },
    EXAMPLE_TIME + 150,
  );
  return applyToStep(
    started,
    { type: "step_succeeded", step_id: step.id, output: EXAMPLE_SOURCE },
    EXAMPLE_TIME + 900,
  );
}
