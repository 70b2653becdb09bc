import { JobUpdate } from "../../src/core/jobs/job-update.ts";
import { CANCELLED_JOB, JOB_REQUEST, QUEUED_JOB } from "./job-examples.ts";
import { eventsOf, operation, WISH_ERRORS } from "./operation.ts";
import { idParameter, lastEventId, listParameters } from "./parameters.ts";

const tag = "Jobs";
const one = idParameter("job", QUEUED_JOB.id);

/** `POST /jobs`. */
export const createJob = operation({
  method: "post",
  path: "/jobs",
  operationId: "createJob",
  creates: true,
  tag,
  summary: "Create a job",
  description:
    "Creates a task for each of up to 10 outputs of one media file, all of them or none. The file is probed once, and read once for all; each task can be followed, cancelled, retried and deleted by itself, and one that fails does not affect the others. An output with `after` waits for another output and takes that one's file as its input. Every output counts as a creation. When the last task ends, the job has an event of its own: `job.succeeded`, `job.failed` or `job.cancelled`.",
  body: { schema: "JobRequest", examples: { job: JOB_REQUEST } },
  answers: {
    201: { description: "The job, with its queued tasks.", schema: "Job", examples: { queued: QUEUED_JOB } },
  },
  errors: [...WISH_ERRORS, "payload_too_large"],
});

/** `GET /jobs`. */
export const listJobs = operation({
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
      schema: "Job",
      many: true,
      examples: { page: [QUEUED_JOB], empty: [] },
      headers: ["Link", "Has-More"],
    },
  },
  errors: ["request_invalid"],
});

/** `GET /jobs/{id}`. */
export const getJob = operation({
  method: "get",
  path: "/jobs/{id}",
  operationId: "getJob",
  tag,
  summary: "Get a job",
  description: "Returns a job with its tasks in their current state.",
  parameters: one,
  answers: { 200: { description: "The job.", schema: "Job", examples: { queued: QUEUED_JOB } } },
  errors: ["job_not_found"],
});

/** `GET /jobs/{id}/events`. */
export const jobEvents = operation({
  method: "get",
  path: "/jobs/{id}/events",
  operationId: "jobEvents",
  tag,
  summary: "Follow a job",
  description:
    "Server-sent events: how the job stands, then its changes, which are those of its tasks, at most one a second, until all are finished; the last one comes at once. `data` is a JobUpdate. A connection that broke begins with how the job stands by then; after the last event it is answered 204 (`Last-Event-ID`). A comment every 15 seconds keeps the connection.",
  parameters: [...one, ...lastEventId],
  answers: {
    200: { description: "The events.", content: { "text/event-stream": { schema: eventsOf(JobUpdate) } } },
    204: { description: "The last event was seen already." },
  },
  errors: ["request_invalid", "job_not_found"],
});

/** `POST /jobs/{id}/cancel`. */
export const cancelJob = operation({
  method: "post",
  path: "/jobs/{id}/cancel",
  operationId: "cancelJob",
  tag,
  summary: "Cancel a job",
  description: "Cancels every task of the job that is not finished.",
  parameters: one,
  answers: {
    200: { description: "The job, cancelled.", schema: "Job", examples: { cancelled: CANCELLED_JOB } },
  },
  errors: ["job_not_found", "job_finished"],
});

/** `DELETE /jobs/{id}`. */
export const deleteJob = operation({
  method: "delete",
  path: "/jobs/{id}",
  operationId: "deleteJob",
  tag,
  summary: "Delete a job",
  description: "Removes a finished job with its tasks and their outputs in managed storage.",
  parameters: one,
  answers: { 204: { description: "The job is gone." } },
  errors: ["job_not_found", "job_running"],
});
