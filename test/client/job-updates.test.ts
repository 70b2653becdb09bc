import { expect, test } from "vitest";
import { followJob } from "../../src/client/progress.ts";
import { MediaError } from "../../src/media/errors.ts";
import { createIds } from "../../src/runs/ids.ts";
import { createJobTasks } from "../../src/runs/job.ts";
import { parseJobRequest } from "../../src/runs/job-request.ts";
import { describeJob } from "../../src/runs/transitions.ts";
import { streamJob } from "../../worker/run/events.ts";

function twoTasks() {
  const request = parseJobRequest({
    input: "https://example.com/clip.mov",
    outputs: [{ kind: "image" }, { kind: "audio" }],
  });
  const head = { id: "job_1", input: "https://example.com/clip.mov", created_at: 1 };
  return describeJob(head, createJobTasks(head, request, createIds(Math.random)));
}

test("a job whose tasks are all deleted while it is followed is not found", async () => {
  const updates = followJob(twoTasks(), async function* () {
    throw new MediaError("task_not_found", "It was deleted.");
    // biome-ignore lint/correctness/noUnreachable: makes it a generator of updates
    yield* [];
  });
  expect((await updates.next()).value?.record.status).toBe("queued");
  await expect(Array.fromAsync(updates)).rejects.toMatchObject({ kind: "job_not_found" });
});

test("a client that leaves a job's stream releases those of its silent tasks", async () => {
  let released = 0;
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const silent = () => new ReadableStream<Uint8Array>({ cancel: () => void (++released === 2 && resolve()) });
  const reader = streamJob(twoTasks(), async () => silent()).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('"status":"queued"');
  await reader.cancel();
  await all;
});
