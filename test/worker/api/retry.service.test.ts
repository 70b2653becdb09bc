import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import { type ApiHost, HOSTS, KEYS } from "./hosts.ts";
import { createMemoryApi, KEY } from "./memory-api.ts";

describe.each(Object.entries(HOSTS))("%s", (_, start) => {
  let host: ApiHost;
  beforeAll(async () => {
    host = await start();
  });
  afterAll(() => host?.close());

  const createTask = async (more: object = {}) =>
    (await host.ask<Task>("POST", "/tasks", { input: host.input, kind: "video", ...more })).body;
  const retry = (id: string, key?: string) => host.ask<Task>("POST", `/tasks/${id}/retry`, undefined, key);

  test("retrying a finished task creates a new one with the same request and leaves the old one unchanged", async () => {
    const request = { options: { format: "webm", width: "50%" }, metadata: { order: 7 } };
    const first = await createTask(request);
    const ended = (await host.ask<Task>("POST", `/tasks/${first.id}/cancel`)).body;
    const { status, body } = await retry(first.id);
    expect(status).toBe(201);
    expect(body.id).toMatch(/^task_[0-9a-z]{26}$/);
    expect(body.id > first.id).toBe(true);
    const { created_at } = body;
    expect(body).toEqual({
      ...first,
      id: body.id,
      steps: first.steps.map((step, index) => ({
        ...step,
        id: body.steps[index]?.id,
        created_at,
        updated_at: created_at,
      })),
      created_at,
      updated_at: created_at,
    });
    const ids = new Set([...first.steps, ...body.steps].map((step) => step.id));
    expect(ids.size).toBe(8);
    expect((await host.ask("GET", `/tasks/${body.id}`)).body).toMatchObject({ id: body.id, ...request });
    expect((await host.ask("GET", `/tasks/${first.id}`)).body).toEqual(ended);
    await host.ask("POST", `/tasks/${body.id}/cancel`);
    const third = await retry(body.id);
    expect([third.status, third.body.options]).toEqual([201, request.options]);
  });

  test("rejects a retry of a running task", async () => {
    const { id } = await createTask();
    const before = (await host.ask<Task[]>("GET", "/tasks?limit=1")).body[0]?.id;
    expect(await retry(id)).toMatchObject({ status: 409, body: { kind: "task_running" } });
    expect((await host.ask<Task[]>("GET", "/tasks?limit=1")).body[0]?.id).toBe(before);
  });

  test("another project's task, a deleted task and a malformed id are not found", async () => {
    const { id, steps } = await createTask();
    await host.ask("POST", `/tasks/${id}/cancel`);
    const unknown = { status: 404, body: { kind: "task_not_found" } };
    expect(await retry(id, KEYS.theirs)).toMatchObject(unknown);
    expect((await host.ask("GET", "/tasks", undefined, KEYS.theirs)).body).toEqual([]);
    for (const at of [steps[0]?.id ?? "", "task_01kbb1d3x4e8v0t6m9q2y5z7av", "x", "%00", "__proto__"]) {
      expect(await retry(at)).toMatchObject(unknown);
    }
    expect((await host.ask("DELETE", `/tasks/${id}`)).status).toBe(204);
    expect(await retry(id)).toMatchObject(unknown);
  });

  test("needs a key", async () => {
    const response = await host.send(`${host.base}/tasks/task_01kbb1d3x4e8v0t6m9q2y5z7av/retry`, {
      method: "POST",
    });
    expect([response.status, ((await response.json()) as { kind: string }).kind]).toEqual([
      401,
      "token_missing",
    ]);
  });
});

test("retries a succeeded task without its managed output", async () => {
  const { app, tasks } = createMemoryApi();
  const body = JSON.stringify({ input: "https://example.com/a.mp4", kind: "audio" });
  const headers = { ...KEY, "Content-Type": "application/json" };
  const task = (await (await app.request("/tasks", { method: "POST", headers, body })).json()) as Task;
  const output = { object: "source", url: "https://media.example/a", kind: "audio", format: "mp3" } as const;
  for (const { id: step_id } of task.steps) {
    tasks.report(task.id, { type: "step_started", step_id, input: null });
    tasks.report(task.id, { type: "step_succeeded", step_id, output });
  }
  expect(tasks.find(task.id)).toMatchObject({ status: "succeeded", output: output.url });
  const answer = await app.request(`/tasks/${task.id}/retry`, { method: "POST", headers: KEY });
  const retry = (await answer.json()) as Task;
  expect([answer.status, retry.output, retry.status]).toEqual([201, null, "queued"]);
});

test("a retry keeps the requested destination and checks access again", async () => {
  const { app, tasks } = createMemoryApi();
  const create = async (more: object) => {
    const body = JSON.stringify({ input: "https://example.com/a.mp4", kind: "audio" });
    const headers = { ...KEY, "Content-Type": "application/json" };
    const task = (await (await app.request("/tasks", { method: "POST", headers, body })).json()) as Task;
    Object.assign(tasks.find(task.id) ?? {}, { status: "failed", ...more });
    return app.request(`/tasks/${task.id}/retry`, { method: "POST", headers: KEY });
  };
  const elsewhere = await create({ output: "s3://bucket/key.mp3" });
  expect([elsewhere.status, await elsewhere.json()]).toMatchObject([
    400,
    { kind: "connection_required", param: "output" },
  ]);
  const inside = await create({ input: "http://10.0.0.1/a.mp4" });
  expect([inside.status, await inside.json()]).toMatchObject([
    400,
    { kind: "invalid_input", param: "input" },
  ]);
});
