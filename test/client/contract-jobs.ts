import type { NewJob } from "../../src/client/jobs.ts";
import { deepEqual, equal, match, ok, rejects } from "../browser/assert.ts";
import type { ClientClauses } from "./contract-case.ts";

const PNG = { kind: "image", options: { format: "png", width: 40 } } as const;

/** Several outputs of one input. */
export const JOBS: ClientClauses = [
  {
    name: "makes several outputs of one file, each by its own task, and one from another's output",
    async check({ client, inputs }) {
      const bytes = await (await fetch(inputs.video)).blob();
      const input = new File([bytes], "clip.mp4", { type: "video/mp4" });
      const title = new File(["WEBVTT\n\n00:00.000 --> 00:00.100\nHallo\n"], "de.txt");
      const subtitles = [{ url: title, language: "de", label: "Deutsch" }];
      const job = await client.jobs.create({
        input,
        outputs: [
          { ...PNG, name: "poster", after: "small", metadata: { order: 7 } },
          { name: "small", kind: "video", options: { width: 32, end: 0.2, subtitles } },
          { kind: "audio", options: { format: "mp3", start: 100 } },
          { kind: "audio", options: { format: "mp3" }, after: 2 },
        ],
      });
      match(job.id, /^job_[0-9a-z]{26}$/);
      const [poster, small, late, behind] = job.tasks;
      deepEqual([job.object, job.status, job.tasks.length], ["job", "queued", 4]);
      deepEqual(
        job.tasks.map((task) => task.job),
        [
          { id: job.id, name: "poster", after: small?.id },
          { id: job.id, name: "small" },
          { id: job.id },
          { id: job.id, after: late?.id },
        ],
      );
      const updates = await Array.fromAsync(client.jobs.watch(job));
      const done = await client.jobs.wait(job);
      const { record, progress, eta } = updates.at(-1) ?? {};
      deepEqual([record, progress, eta], [done, 100, 0]);
      for (const [at, update] of updates.entries())
        ok((update.progress ?? 0) >= (updates[at - 1]?.progress ?? 0));
      equal(updates.filter(({ record }) => record.finished_at !== null).length, 1);
      deepEqual(
        done.tasks.map(({ id, status, error }) => [id, status, error?.kind]),
        [
          [poster?.id, "succeeded", undefined],
          [small?.id, "succeeded", undefined],
          [late?.id, "failed", "invalid_options"],
          [behind?.id, "failed", "input_not_found"],
        ],
      );
      const { message, reason } = done.tasks[3]?.error ?? {};
      equal(message, `The input is the output of ${late?.id}, which failed.`);
      deepEqual(reason, { code: "after", task: late?.id, ended: "failed" });
      deepEqual([done.status, done.input, done.created_at], ["failed", job.input, job.created_at]);
      deepEqual([done.tasks[0]?.input, done.tasks[0]?.metadata], [done.tasks[1]?.output, { order: 7 }]);
      const [still, film] = await Promise.all(
        done.tasks.slice(0, 2).map(async (task) => client.probe(await (await client.output(task)).blob())),
      );
      deepEqual([still?.format, still?.width, film?.width], ["png", 40, 32]);
      deepEqual([film?.streams?.at(-1)?.codec, film?.streams?.at(-1)?.title], ["mov_text", "Deutsch"]);

      deepEqual(await client.jobs.get(job.id), done);
      deepEqual((await client.jobs.list({ limit: 1 })).records, [done]);
      deepEqual((await client.jobs.each().next()).value, done);
      await rejects(client.jobs.cancel(job.id), { kind: "job_finished" });
      const { message: never, param } = await refused(client.tasks.retry(behind?.id ?? ""));
      match(String(never), /which was never produced; create the task again with an input of its own\.$/);
      equal(param, "input");
      const retry = await client.tasks.wait(await client.tasks.retry(poster?.id ?? ""));
      deepEqual([retry.status, retry.job, retry.input], ["succeeded", undefined, done.tasks[0]?.input]);
      await client.tasks.delete(retry.id);

      await client.tasks.delete(late?.id ?? "");
      deepEqual(
        (await client.jobs.get(job.id)).tasks.map(({ id }) => id),
        [poster?.id, small?.id, behind?.id],
      );
      await client.jobs.delete(job.id);
      await rejects(client.jobs.get(job.id), { kind: "job_not_found" });
      await rejects(client.tasks.get(small?.id ?? ""), { kind: "task_not_found" });
    },
  },
  {
    name: "cancels a job, and fails a task that waits for a cancelled one",
    async check({ client, inputs }) {
      const outputs = [
        { kind: "video" },
        { kind: "audio", after: 0 },
        { kind: "audio" },
        { kind: "audio", after: 2 },
      ] as const;
      const { id, tasks } = await client.jobs.create({ input: inputs.silent, outputs });
      await client.tasks.cancel(tasks[0]?.id ?? "");
      const behind = await client.tasks.wait(tasks[1]?.id ?? "");
      deepEqual(
        [behind.status, behind.error?.reason],
        ["failed", { code: "after", task: tasks[0]?.id, ended: "cancelled" }],
      );
      await rejects(client.jobs.delete(id), { kind: "job_running" });
      const cancelled = await client.jobs.cancel(id);
      deepEqual(
        cancelled.tasks.map(({ status }) => status),
        ["cancelled", "failed", "cancelled", "cancelled"],
      );
      equal(cancelled.status, "failed");
      for (const task of tasks) await client.tasks.delete(task.id);
      // A service's job learns of the last one's end a moment later.
      const isThere = () =>
        client.jobs.get(id).then(
          () => true,
          () => false,
        );
      for (let left = 400; left > 0 && (await isThere()); left--)
        await new Promise((resolve) => setTimeout(resolve, 50));
      await rejects(client.jobs.get(id), { kind: "job_not_found" });
    },
  },
  {
    name: "refuses a malformed job and names the field at fault",
    async check({ client, inputs }) {
      const video = { kind: "video" } as const;
      const REFUSED: [outputs: unknown, kind: string, param: string, input?: unknown][] = [
        [[], "request_invalid", "outputs"],
        [Array(11).fill(video), "request_invalid", "outputs"],
        ["video", "request_invalid", "outputs"],
        [[video, { kind: "film" }], "invalid_kind", "outputs.1.kind"],
        [[video, { kind: "video", options: { fps: -1 } }], "invalid_options", "outputs.1.options.fps"],
        [[{ ...video, input: inputs.video }], "request_invalid", "outputs.0.input"],
        [[{ ...video, after: 3 }], "request_invalid", "outputs.0.after"],
        [[{ ...video, after: 0 }], "request_invalid", "outputs.0.after"],
        [[{ ...video, output: "s3://bucket/key" }], "connection_required", "outputs.0.output"],
        [
          [video, { ...video, options: { overlay: { url: "s3://bucket/logo.png" } } }],
          ...(["connection_required", "outputs.1.options.overlay.url"] as const),
        ],
        [[video], "input_required", "input", null],
        [[video], "invalid_input", "input", "ftp://example.com/clip.mp4"],
      ];
      for (const [outputs, kind, param, input = inputs.video] of REFUSED) {
        const thrown = await refused(client.jobs.create({ input, outputs } as NewJob));
        deepEqual([thrown.kind, thrown.param], [kind, param]);
      }
      await rejects(client.jobs.get("job_1"), { kind: "job_not_found" });
      await rejects(client.jobs.cancel("job_01kbb1d3x4e8v0t6m9q2y5z7av"), { kind: "job_not_found" });
    },
  },
];

async function refused(call: Promise<unknown>) {
  const thrown: unknown = await call.then(
    () => null,
    (error: unknown) => error,
  );
  return Object(thrown) as { kind?: unknown; param?: unknown; message?: unknown };
}
