import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import { type ApiHost, HOSTS, KEYS, type Refusal } from "./hosts.ts";

describe.each(Object.entries(HOSTS))("%s", (_, start) => {
  let host: ApiHost;
  beforeAll(async () => {
    host = await start();
  });
  afterAll(() => host?.close());

  const call = async <Body = unknown>(method: string, path: string, body?: unknown, key?: string) => {
    const answer = await host.ask<Body>(method, path, body, key);
    return { status: answer.status, body: answer.body };
  };
  const createTask = async () =>
    (await call<Task>("POST", "/tasks", { input: host.input, kind: "video" })).body;
  const createStep = async () =>
    (await call<Step>("POST", "/steps", { kind: "probe", input: { url: host.input } })).body;
  const status = async (path: string) => (await call<Task | Step>("GET", path)).body.status;

  test("creates a task as specified and reads it back", async () => {
    const request = {
      input: host.input,
      kind: "video",
      options: { format: "webm", codec: "vp9" },
      metadata: { a: [1] },
    };
    const created = await call<Task>("POST", "/tasks", request);
    expect(created.status).toBe(201);
    const { created_at } = created.body;
    const step = (kind: string) => ({
      id: expect.stringMatching(/^step_[0-9a-z]{26}$/),
      object: "step",
      kind,
      input: null,
      output: null,
      options: {},
      status: "waiting",
      progress: null,
      error: null,
      created_at,
      started_at: null,
      finished_at: null,
      updated_at: created_at,
    });
    expect(created.body).toEqual({
      id: expect.stringMatching(/^task_[0-9a-z]{26}$/),
      object: "task",
      ...request,
      output: null,
      status: "queued",
      error: null,
      steps: ["probe", "ingest", "video", "upload"].map(step),
      created_at,
      started_at: null,
      finished_at: null,
      updated_at: created_at,
    });
    expect(Math.abs(Date.now() - created_at)).toBeLessThan(60_000);
    const { id, steps } = created.body;
    const read = await call<Task>("GET", `/tasks/${id}`);
    expect(read).toMatchObject({ status: 200, body: { id, ...request, output: null, created_at } });
    expect(read.body.steps.map((each) => each.id)).toEqual(steps.map((each) => each.id));
  });

  test("creates a probe step as specified and reads it back", async () => {
    const created = await call<Step>("POST", "/steps", { kind: "probe", input: { url: host.input } });
    expect(created.status).toBe(201);
    const { id, created_at } = created.body;
    expect(created.body).toEqual({
      id: expect.stringMatching(/^step_[0-9a-z]{26}$/),
      object: "step",
      kind: "probe",
      input: { object: "external_file", url: host.input },
      output: null,
      options: {},
      status: "waiting",
      progress: null,
      error: null,
      created_at: expect.any(Number),
      started_at: null,
      finished_at: null,
      updated_at: created_at,
    });
    const read = await call("GET", `/steps/${id}`);
    expect(read).toMatchObject({ status: 200, body: { id, input: created.body.input, created_at } });
  });

  test("a task's step can be read but not cancelled on its own", async () => {
    const task = await createTask();
    const step = task.steps[2] as Step;
    expect(await call("GET", `/steps/${step.id}`)).toEqual({ status: 200, body: step });
    const refused = await call<Refusal>("POST", `/steps/${step.id}/cancel`);
    expect(refused).toMatchObject({ status: 400, body: { kind: "request_invalid" } });
    expect(refused.body.message).toContain(`POST /tasks/${task.id}/cancel`);
    expect(["queued", "processing"]).toContain(await status(`/tasks/${task.id}`));
  });

  test("cancelling ends a task and its steps once", async () => {
    const { id, steps } = await createTask();
    const first = await call<Task>("POST", `/tasks/${id}/cancel`);
    expect(first).toMatchObject({
      status: 200,
      body: { id, status: "cancelled", error: null, output: null },
    });
    expect(first.body.steps.map((step) => step.status)).toEqual(Array(4).fill("cancelled"));
    expect(await call("POST", `/tasks/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { kind: "task_finished" },
    });
    expect((await call("GET", `/tasks/${id}`)).body).toEqual(first.body);
    expect(await status(`/steps/${steps[0]?.id}`)).toBe("cancelled");
  });

  test("cancelling ends a step once", async () => {
    const { id } = await createStep();
    const first = await call("POST", `/steps/${id}/cancel`);
    expect(first).toMatchObject({ status: 200, body: { id, status: "cancelled" } });
    expect(await call("POST", `/steps/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { kind: "step_finished" },
    });
    expect((await call("GET", `/steps/${id}`)).body).toEqual(first.body);
  });

  test("deletes a task only once it no longer runs", async () => {
    const { id, steps } = await createTask();
    expect(await call("DELETE", `/tasks/${id}`)).toMatchObject({
      status: 409,
      body: { kind: "task_running" },
    });
    await call("POST", `/tasks/${id}/cancel`);
    expect(await call("DELETE", `/tasks/${id}`)).toEqual({ status: 204, body: null });
    const gone = { status: 404, body: { kind: "task_not_found" } };
    expect(await call("GET", `/tasks/${id}`)).toMatchObject(gone);
    expect(await call("DELETE", `/tasks/${id}`)).toMatchObject(gone);
    expect(await call("POST", `/tasks/${id}/cancel`)).toMatchObject(gone);
    expect(await call("GET", `/steps/${steps[0]?.id}`)).toMatchObject({ status: 404 });
    const listed = (await call<Task[]>("GET", "/tasks?limit=100")).body.map((task) => task.id);
    expect(listed).not.toContain(id);
  });

  test("deletes a standalone step only once it no longer runs", async () => {
    const { id } = await createStep();
    expect(await call("DELETE", `/steps/${id}`)).toMatchObject({
      status: 409,
      body: { kind: "step_running" },
    });
    await call("POST", `/steps/${id}/cancel`);
    expect(await call("DELETE", `/steps/${id}`)).toEqual({ status: 204, body: null });
    const gone = { status: 404, body: { kind: "step_not_found" } };
    expect(await call("GET", `/steps/${id}`)).toMatchObject(gone);
    expect(await call("DELETE", `/steps/${id}`)).toMatchObject(gone);
    const listed = (await call<Step[]>("GET", "/steps?limit=100")).body.map((step) => step.id);
    expect(listed).not.toContain(id);
  });

  test("a task's step cannot be deleted without its task", async () => {
    const { id, steps } = await createTask();
    await call("POST", `/tasks/${id}/cancel`);
    expect(await call("DELETE", `/steps/${steps[0]?.id}`)).toMatchObject({
      status: 400,
      body: {
        kind: "request_invalid",
        message: `The step belongs to a task; delete that: DELETE /tasks/${id}.`,
      },
    });
    expect((await call("GET", `/steps/${steps[0]?.id}`)).status).toBe(200);
  });

  test("another project's ids are unknown", async () => {
    const task = await createTask();
    const step = await createStep();
    const inner = task.steps[0]?.id;
    for (const [method, path, kind] of [
      ["GET", `/tasks/${task.id}`, "task_not_found"],
      ["POST", `/tasks/${task.id}/cancel`, "task_not_found"],
      ["DELETE", `/tasks/${task.id}`, "task_not_found"],
      ["GET", `/steps/${step.id}`, "step_not_found"],
      ["POST", `/steps/${step.id}/cancel`, "step_not_found"],
      ["GET", `/steps/${inner}`, "step_not_found"],
      ["POST", `/steps/${inner}/cancel`, "step_not_found"],
    ] as const) {
      expect(await call(method, path, undefined, KEYS.theirs)).toMatchObject({ status: 404, body: { kind } });
    }
    expect((await call("GET", "/tasks", undefined, KEYS.theirs)).body).toEqual([]);
    expect((await call("GET", "/steps", undefined, KEYS.theirs)).body).toEqual([]);
    expect(["queued", "processing"]).toContain(await status(`/tasks/${task.id}`));
    expect(["waiting", "processing"]).toContain(await status(`/steps/${step.id}`));
  });

  test.each([
    "task_",
    "x",
    "task_01kbb1d3x4e8v0t6m9q2y5z7av",
    "step_01kbb1d3x4e8v0t6m9q2y5z7av",
    "TASK_01KBB1D3X4E8V0T6M9Q2Y5Z7AV",
    "..%2F..%2Fetc%2Fpasswd",
    "%00",
    "%E0%A4%A",
    "__proto__",
    "constructor",
    "a".repeat(5000),
    "'; DROP TABLE run; --",
    "💥",
  ])("the id %j is 404 for every operation", async (id) => {
    const at = encodeURI(id).replaceAll("%25", "%");
    for (const [method, path, kind] of [
      ["GET", `/tasks/${at}`, "task_not_found"],
      ["DELETE", `/tasks/${at}`, "task_not_found"],
      ["POST", `/tasks/${at}/cancel`, "task_not_found"],
      ["GET", `/steps/${at}`, "step_not_found"],
      ["POST", `/steps/${at}/cancel`, "step_not_found"],
    ] as const) {
      const answer = await call<Refusal>(method, path);
      expect(answer).toMatchObject({ status: 404, body: { kind } });
      expect(answer.body.message.length).toBeLessThan(200);
    }
  });
});
