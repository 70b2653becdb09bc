import { TaskUpdate } from "../../src/client/update.ts";
import { ENCODE_KINDS } from "../../src/core/formats.ts";
import { TASK_STATUSES } from "../../src/core/task.ts";
import {
  CANCELLED_TASK,
  FAILED_TASK,
  PROCESSING_TASK,
  QUEUED_TASK,
  RETRIED_TASK,
  SUCCEEDED_TASK,
  TASK_REQUESTS,
} from "./examples.ts";
import { eventsOf, operation, WISH_ERRORS } from "./operation.ts";
import { idParameter, lastEventId, listParameters } from "./parameters.ts";

const tag = "Tasks";
const one = idParameter("task", QUEUED_TASK.id);

/** `POST /tasks`. */
export const createTask = operation({
  method: "post",
  path: "/tasks",
  operationId: "createTask",
  creates: true,
  tag,
  summary: "Create a task",
  description: "Creates a task that runs the pipeline probe, ingest, encode, upload over one media file.",
  body: { schema: "TaskRequest", examples: TASK_REQUESTS },
  answers: { 201: { description: "The task, queued.", schema: "Task", examples: { queued: QUEUED_TASK } } },
  errors: [...WISH_ERRORS, "payload_too_large"],
});

/** `GET /tasks`. */
export const listTasks = operation({
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
      schema: "Task",
      many: true,
      examples: { page: [PROCESSING_TASK], empty: [] },
      headers: ["Link", "Has-More"],
    },
  },
  errors: ["request_invalid", "invalid_kind"],
});

/** `GET /tasks/{id}`. */
export const getTask = operation({
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
      schema: "Task",
      examples: { processing: PROCESSING_TASK, succeeded: SUCCEEDED_TASK, failed: FAILED_TASK },
    },
  },
  errors: ["task_not_found"],
});

/** `GET /tasks/{id}/events`. */
export const taskEvents = operation({
  method: "get",
  path: "/tasks/{id}/events",
  operationId: "taskEvents",
  tag,
  summary: "Follow a task",
  description:
    "Server-sent events: the current state of the task, then its changes, at most one a second, until it is finished; the last one is sent immediately. `data` is a TaskUpdate, and `id` its version, from which a broken connection resumes (`Last-Event-ID`). A comment every 15 seconds keeps the connection open. A request after the last event gets 204.",
  parameters: [...one, ...lastEventId],
  answers: {
    200: {
      description: "The events.",
      content: { "text/event-stream": { schema: eventsOf(TaskUpdate) } },
    },
    204: { description: "The last event was seen already." },
  },
  errors: ["request_invalid", "task_not_found"],
});

/** `POST /tasks/{id}/cancel`. */
export const cancelTask = operation({
  method: "post",
  path: "/tasks/{id}/cancel",
  operationId: "cancelTask",
  tag,
  summary: "Cancel a task",
  description: "Stops the work and removes everything that the task wrote.",
  parameters: one,
  answers: {
    200: { description: "The task, cancelled.", schema: "Task", examples: { cancelled: CANCELLED_TASK } },
  },
  errors: ["task_not_found", "task_finished"],
});

/** `POST /tasks/{id}/retry`. */
export const retryTask = operation({
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
    201: { description: "The new task, queued.", schema: "Task", examples: { queued: RETRIED_TASK } },
  },
  errors: ["invalid_input", "connection_required", "task_not_found", "task_running"],
});

/** `DELETE /tasks/{id}`. */
export const deleteTask = operation({
  method: "delete",
  path: "/tasks/{id}",
  operationId: "deleteTask",
  tag,
  summary: "Delete a task",
  description: "Removes the record of a finished task and its output in managed storage.",
  parameters: one,
  answers: { 204: { description: "The task is gone." } },
  errors: ["task_not_found", "task_running"],
});
