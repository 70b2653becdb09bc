import { expect, test } from "vitest";
import { followJob } from "../../src/client/follow/job-updates.ts";
import { MediaError } from "../../src/core/errors.ts";
import { createIds } from "../../src/core/ids.ts";
import { describeJob } from "../../src/core/jobs/describe-job.ts";
import { createJobTasks } from "../../src/core/jobs/job.ts";
import { parseJobRequest } from "../../src/core/jobs/job-request.ts";

test("a job whose tasks are all deleted while it is followed is not found", async () => {
  const request = parseJobRequest({
    input: "https://example.com/clip.mov",
    outputs: [{ kind: "image" }, { kind: "audio" }],
  });
  const head = { id: "job_1", input: "https://example.com/clip.mov", created_at: 1 };
  const job = describeJob(head, createJobTasks(head, request, createIds(Math.random)));
  const updates = followJob(job, async function* () {
    throw new MediaError("task_not_found", "It was deleted.");
    // biome-ignore lint/correctness/noUnreachable: makes it a generator of updates
    yield* [];
  });
  expect((await updates.next()).value?.record.status).toBe("queued");
  await expect(Array.fromAsync(updates)).rejects.toMatchObject({ kind: "job_not_found" });
});
