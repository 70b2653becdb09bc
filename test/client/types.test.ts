import { expectTypeOf, test } from "vitest";
import type { Client, Page, Step, Task, Update } from "../../src/client/client.ts";
import type { Job } from "../../src/client/jobs.ts";
import { createRemoteClient } from "../../src/client/remote.ts";
import type { MediaError } from "../../src/media/errors.ts";
import type { AudioFormat } from "../../src/media/formats.ts";
import type { Source } from "../../src/media/source.ts";
import type { RunError } from "../../src/runs/step.ts";

test("types requests by kind, and records by status and kind", () => {
  expectTypeOf(createRemoteClient).returns.toExtend<Client>();
  // Type-checked only, never run.
  expectTypeOf(async (client: Client, task: Task, step: Step) => {
    const input = "https://example.com/a.mp4";
    expectTypeOf(client.tasks.create({ input, kind: "audio" })).resolves.toEqualTypeOf<Task<"audio">>();
    client.tasks.create({ input, kind: "video", options: { format: "webm", codec: "vp9", fps: 30 } });
    client.tasks.create({ input: new Blob(), kind: "image", options: { width: "50%", fit: "cover" } });
    client.tasks.create({ input, kind: "adaptive_video", options: { format: "hls", height: 720 } });
    // @ts-expect-error audio has no frame rate
    client.tasks.create({ input, kind: "audio", options: { fps: 30 } });
    // @ts-expect-error mp3 is not a video format
    client.tasks.create({ input, kind: "video", options: { format: "mp3" } });
    // @ts-expect-error film is not a kind
    client.tasks.create({ input, kind: "film" });
    // @ts-expect-error a probe is a step, not a task
    client.tasks.create({ input, kind: "probe" });
    // @ts-expect-error the input is required
    client.tasks.create({ kind: "video" });
    expectTypeOf(client.steps.create({ kind: "probe", input: { url: input } })).resolves.toEqualTypeOf<
      Step<"probe">
    >();
    if (step.output) client.steps.create({ kind: "audio", input: step.output, options: { format: "opus" } });
    // @ts-expect-error audio has no frame rate
    client.steps.create({ kind: "audio", input: { url: input }, options: { fps: 30 } });
    expectTypeOf(client.tasks.list({ limit: 3 })).resolves.toEqualTypeOf<Page<Task>>();
    for await (const each of client.tasks.each({ status: "failed" }))
      expectTypeOf(each).toEqualTypeOf<Task>();
    for await (const update of client.watch(step)) expectTypeOf(update).toEqualTypeOf<Update<Step>>();
    // @ts-expect-error each() walks in one direction only
    client.tasks.each({ before: task.id });
    client.on(task, "update", (update) => expectTypeOf(update).toEqualTypeOf<Update<Task>>());
    client.on(step, "update", ({ record }) => expectTypeOf(record).toEqualTypeOf<Step>());
    client.on(task, "error", (error) => expectTypeOf(error).toEqualTypeOf<MediaError>());
    // @ts-expect-error progress is a field of an update
    client.on(task, "progress", () => {});
    expectTypeOf(client.tasks.wait(task)).resolves.toEqualTypeOf<Task>();
    expectTypeOf(client.steps.wait(step.id)).resolves.toEqualTypeOf<Step>();
    // @ts-expect-error a step is not a task
    client.tasks.wait(step);
    if (task.status === "succeeded") expectTypeOf(task.output).toEqualTypeOf<string>();
    if (task.status === "failed") expectTypeOf(task.error).toEqualTypeOf<RunError>();
    if (task.kind === "audio") expectTypeOf(task.options.format).toEqualTypeOf<AudioFormat | undefined>();
    if (step.status === "succeeded") expectTypeOf(step.output).toEqualTypeOf<Source>();
    const { blob, task: done } = await client.run({ input, kind: "image" });
    expectTypeOf(blob).toEqualTypeOf<Blob>();
    expectTypeOf(done.output).toEqualTypeOf<string>();
    expectTypeOf(client.probe(new Blob())).resolves.toEqualTypeOf<Source>();
    const outputs = [{ kind: "video" }, { kind: "image", options: { start: 1 }, after: 0 }] as const;
    expectTypeOf(client.jobs.create({ input, outputs })).resolves.toEqualTypeOf<Job>();
    // @ts-expect-error audio has no frame rate
    client.jobs.create({ input, outputs: [{ kind: "audio", options: { fps: 30 } }] });
    // @ts-expect-error the job has one input for all
    client.jobs.create({ input, outputs: [{ kind: "audio", input }] });
    // @ts-expect-error jobs are listed whatever their status
    client.jobs.list({ status: "failed" });
    // @ts-expect-error not a status of a task
    client.tasks.list({ status: "done" });
    // @ts-expect-error pixels or a percentage
    client.run({ input, kind: "video", options: { width: "abc" } });
    // @ts-expect-error WebM holds no H.264
    client.run({ input, kind: "video", options: { format: "webm", codec: "h264" } });
    // @ts-expect-error MP4, the default, holds no VP9 here
    client.run({ input, kind: "video", options: { codec: "vp9" } });
  }).toBeFunction();
});
