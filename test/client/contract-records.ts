import type { Client } from "../../src/client/client.ts";
import { deepEqual, equal, ok, rejects } from "../browser/assert.ts";
import { type ClientClauses, createSilent } from "./contract-case.ts";

/** Cancelling, deleting, retrying and listing records. */
export const RECORDS: ClientClauses = [
  {
    name: "cancels a task once, and resolves pending waits",
    async check(context) {
      const { client } = context;
      const task = await createSilent(context);
      const waiting = client.tasks.wait(task);
      const cancelled = await client.tasks.cancel(task.id);
      deepEqual([cancelled.status, cancelled.error, cancelled.output], ["cancelled", null, null]);
      deepEqual(
        cancelled.steps.map(({ status }) => status),
        Array(4).fill("cancelled"),
      );
      deepEqual(await waiting, cancelled);
      deepEqual(await client.tasks.wait(task.id), cancelled);
      await rejects(client.tasks.cancel(task.id), { kind: "task_finished", retryable: false });
      await rejects(client.output(task.id), { kind: "media_not_found" });
    },
  },
  {
    name: "cancels a standalone step once, but no step of a task",
    async check(context) {
      const { client, inputs } = context;
      const step = await client.steps.create({ kind: "probe", input: { url: inputs.silent } });
      equal((await client.steps.cancel(step.id)).status, "cancelled");
      await rejects(client.steps.cancel(step.id), { kind: "step_finished" });
      const task = await createSilent(context);
      const inner = task.steps[0]?.id ?? "";
      equal((await client.steps.get(inner)).kind, "probe");
      await rejects(client.steps.cancel(inner), { kind: "request_invalid" });
      await client.tasks.cancel(task.id);
      equal((await client.steps.get(inner)).status, "cancelled");
    },
  },
  {
    name: "deletes finished tasks only",
    async check(context) {
      const { client } = context;
      const { id } = await createSilent(context);
      await rejects(client.tasks.delete(id), { kind: "task_running" });
      await client.tasks.cancel(id);
      await client.tasks.delete(id);
      await rejects(client.tasks.get(id), { kind: "task_not_found" });
      await rejects(client.tasks.delete(id), { kind: "task_not_found" });
      ok((await client.tasks.list({ limit: 100 })).records.every((task) => task.id !== id));
    },
  },
  {
    name: "deletes finished standalone steps only",
    async check(context) {
      const { client, inputs } = context;
      const { id } = await client.steps.create({ kind: "probe", input: { url: inputs.silent } });
      await rejects(client.steps.delete(id), { kind: "step_running", retryable: false });
      await rejects(client.tasks.delete(id), { kind: "task_not_found" });
      await client.steps.cancel(id);
      await client.steps.delete(id);
      await rejects(client.steps.get(id), { kind: "step_not_found" });
      await rejects(client.steps.delete(id), { kind: "step_not_found" });
      ok((await client.steps.list({ limit: 100 })).records.every((step) => step.id !== id));
      const task = await createSilent(context);
      await rejects(client.steps.delete(task.steps[0]?.id ?? ""), { kind: "request_invalid" });
      await client.tasks.cancel(task.id);
    },
  },
  {
    name: "retries finished tasks only, with the same request",
    async check(context) {
      const { client } = context;
      const request = { options: { format: "mp4", fps: 12 }, metadata: { tag: "again" } };
      const first = await createSilent(context, request);
      await rejects(client.tasks.retry(first.id), { kind: "task_running" });
      const ended = await client.tasks.cancel(first.id);
      const second = await client.tasks.retry(first.id);
      ok(second.id > first.id, `${second.id} does not come after ${first.id}`);
      const { input, kind, options, metadata, status, output } = second;
      deepEqual(
        { input, kind, options, metadata, status, output },
        { input: first.input, kind: "video", ...request, status: "queued", output: null },
      );
      deepEqual(await client.tasks.get(first.id), ended);
      await client.tasks.cancel(second.id);
    },
  },
  {
    name: "lists newest first, in pages, by status and by kind; rejects invalid queries",
    async check(context) {
      const { client } = context;
      const ids: string[] = [];
      for (const kind of ["audio", "image", "audio"]) {
        const { id } = await createSilent(context, { kind });
        ids.unshift(id);
        await client.tasks.cancel(id);
      }
      const list = async (query: Parameters<Client["tasks"]["list"]>[0]) => {
        const { records, more } = await client.tasks.list(query);
        return [records.map(({ id }) => ids.indexOf(id)), more];
      };
      deepEqual((await list({ limit: 3 }))[0], [0, 1, 2]);
      deepEqual(await list({ limit: 1 }), [[0], true]);
      deepEqual((await list({ limit: 2, after: ids[0] as string }))[0], [1, 2]);
      deepEqual(await list({ before: ids[1] as string }), [[0], false]);
      deepEqual((await list({ limit: 2, kind: "audio", status: "cancelled" }))[0], [0, 2]);
      deepEqual((await list({ limit: 2, order: "asc", after: ids[2] as string }))[0], [1, 0]);
      const walked: number[] = [];
      for await (const { id } of client.tasks.each({ limit: 2, kind: "audio" })) {
        walked.push(ids.indexOf(id));
        // Two pages are enough: earlier tests left more tasks.
        if (walked.length === 2) break;
      }
      deepEqual(walked, [0, 2]);
      const rest = await Array.fromAsync(
        client.tasks.each({ limit: 1, order: "asc", after: ids[2] as string }),
      );
      deepEqual(
        rest.map(({ id }) => ids.indexOf(id)),
        [1, 0],
      );
      await rejects(client.steps.each({ limit: 0 }).next(), { kind: "request_invalid", param: "limit" });
      for (const [query, kind, param] of [
        [{ limit: 0 }, "request_invalid", "limit"],
        [{ limit: 101 }, "request_invalid", "limit"],
        [{ after: "x" }, "request_invalid", "after"],
        [{ status: "done" }, "request_invalid", "status"],
        [{ kind: "movie" }, "invalid_kind", "kind"],
      ] as const) {
        await rejects(client.tasks.list(query as object), { kind, param });
      }
      await rejects(client.steps.list({ status: "queued" } as object), {
        kind: "request_invalid",
        param: "status",
      });
    },
  },
];
