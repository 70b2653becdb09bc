import { STEP_KINDS } from "../../src/core/formats.ts";
import { STEP_STATUSES } from "../../src/core/step.ts";
import { CANCELLED_STEP, STEP_REQUESTS, SUCCEEDED_STEP, WAITING_STEP } from "./examples.ts";
import { operation, WISH_ERRORS } from "./operation.ts";
import { idParameter, listParameters } from "./parameters.ts";

const tag = "Steps";
const one = idParameter("step", WAITING_STEP.id);

/** `POST /steps`. */
export const createStep = operation({
  method: "post",
  path: "/steps",
  operationId: "createStep",
  creates: true,
  tag,
  summary: "Create a step",
  description:
    "Creates a single operation without a task. The `output` of a finished step is the `input` of the next: probe a file, for example, then encode the result.",
  body: { schema: "StepRequest", examples: STEP_REQUESTS },
  answers: {
    201: { description: "The step, waiting.", schema: "Step", examples: { waiting: WAITING_STEP } },
  },
  errors: [...WISH_ERRORS, "connection_not_found", "payload_too_large"],
});

/** `GET /steps`. */
export const listSteps = operation({
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
      schema: "Step",
      many: true,
      examples: { page: [SUCCEEDED_STEP], empty: [] },
      headers: ["Link", "Has-More"],
    },
  },
  errors: ["request_invalid", "invalid_kind"],
});

/** `GET /steps/{id}`. */
export const getStep = operation({
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
      schema: "Step",
      examples: { waiting: WAITING_STEP, succeeded: SUCCEEDED_STEP },
    },
  },
  errors: ["step_not_found"],
});

/** `POST /steps/{id}/cancel`. */
export const cancelStep = operation({
  method: "post",
  path: "/steps/{id}/cancel",
  operationId: "cancelStep",
  tag,
  summary: "Cancel a step",
  description: "Stops a standalone step. A step of a task is stopped by cancelling the task.",
  parameters: one,
  answers: {
    200: { description: "The step, cancelled.", schema: "Step", examples: { cancelled: CANCELLED_STEP } },
  },
  errors: ["request_invalid", "step_not_found", "step_finished"],
});

/** `DELETE /steps/{id}`. */
export const deleteStep = operation({
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
});
