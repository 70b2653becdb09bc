import { createIds } from "../../src/core/ids.ts";
import { describeJob } from "../../src/core/jobs/describe-job.ts";
import { createJobTasks, type Job } from "../../src/core/jobs/job.ts";
import { parseJobRequest } from "../../src/core/jobs/job-request.ts";
import { applyToTask } from "../../src/core/transitions.ts";

// A fixed clock and fixed dice, as in examples.ts.
const NOW = Date.UTC(2026, 10, 20, 9, 31);

/** A body of `POST /jobs`. */
export const JOB_REQUEST = {
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

/** A job just created. */
export const QUEUED_JOB: Job = describeJob(head, tasks);
/** A job that was cancelled. */
export const CANCELLED_JOB: Job = describeJob(
  head,
  tasks.map((task) => applyToTask(task, { type: "cancelled" }, NOW + 3000)),
);
