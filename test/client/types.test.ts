import { expectTypeOf, test } from "vitest";
import type { Client, Page, Update } from "../../src/client/client.ts";
import { createRemoteClient } from "../../src/client/remote.ts";
import type { Step } from "../../src/core/step.ts";
import type { Task } from "../../src/core/task.ts";

test("requests are typed by their kind, and answers by what they are", () => {
  expectTypeOf(createRemoteClient).returns.toExtend<Client>();
  // Only the compiler runs this.
  expectTypeOf(async (client: Client, task: Task, step: Step) => {
    const input = "https://example.com/a.mp4";
    expectTypeOf(client.tasks.create({ input, kind: "audio" })).resolves.toEqualTypeOf<Task>();
    client.tasks.create({ input, kind: "video", options: { format: "webm", codec: "vp9", fps: 30 } });
    client.tasks.create({ input: new Blob(), kind: "image", options: { width: "50%", fit: "cover" } });
    client.tasks.create({ input, kind: "adaptive_video", options: { format: "hls", height: 720 } });
    // @ts-expect-error a sound has no frames
    client.tasks.create({ input, kind: "audio", options: { fps: 30 } });
    // @ts-expect-error mp3 is no format of a video
    client.tasks.create({ input, kind: "video", options: { format: "mp3" } });
    // @ts-expect-error a film is no kind
    client.tasks.create({ input, kind: "film" });
    // @ts-expect-error a probe is no task
    client.tasks.create({ input, kind: "probe" });
    // @ts-expect-error the input is needed
    client.tasks.create({ kind: "video" });
    expectTypeOf(
      client.steps.create({ kind: "probe", input: { url: input } }),
    ).resolves.toEqualTypeOf<Step>();
    if (step.output) client.steps.create({ kind: "audio", input: step.output, options: { format: "opus" } });
    // @ts-expect-error a sound has no frames
    client.steps.create({ kind: "audio", input: { url: input }, options: { fps: 30 } });
    expectTypeOf(client.tasks.list({ limit: 3 })).resolves.toEqualTypeOf<Page<Task>>();
    for await (const each of client.tasks.each({ status: "failed" }))
      expectTypeOf(each).toEqualTypeOf<Task>();
    for await (const update of client.events(step)) expectTypeOf(update).toEqualTypeOf<Update<Step>>();
    // @ts-expect-error a walk goes one way
    client.tasks.each({ before: task.id });
    client.on(task, "update", (update) => expectTypeOf(update).toEqualTypeOf<Update<Task>>());
    client.on(step, "update", ({ record }) => expectTypeOf(record).toEqualTypeOf<Step>());
    expectTypeOf(client.wait(task)).resolves.toEqualTypeOf<Task>();
    expectTypeOf(client.wait<Step>(step.id)).resolves.toEqualTypeOf<Step>();
    // @ts-expect-error there is one event
    client.on(task, "progress", () => {});
  }).toBeFunction();
});
