import { expect, test } from "vitest";
import type { Step } from "../../../src/core/step.ts";
import type { Task } from "../../../src/core/task.ts";
import { createMemoryApi, KEY } from "./memory-api.ts";

const OTHER = { Authorization: "Bearer other-key" };
const { app, tasks, steps } = createMemoryApi();

async function call(method: string, path: string, body?: unknown, key: Record<string, string> = KEY) {
  const headers = { ...key, "Content-Type": "application/json" };
  const init =
    body === undefined ? { method, headers: key } : { method, headers, body: JSON.stringify(body) };
  const response = await app.request(path, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}
const createTask = async () =>
  (await call("POST", "/tasks", { input: "https://example.com/a", kind: "video" })).body as Task;
const createStep = async () =>
  (await call("POST", "/steps", { kind: "probe", input: { url: "https://example.com/a" } })).body as Step;

test("a task is created as the spec says, and read back", async () => {
  const created = await call("POST", "/tasks", {
    input: "https://example.com/a.mp4",
    kind: "video",
    options: { format: "webm", codec: "vp9" },
    metadata: { a: [1] },
  });
  expect(created.status).toBe(201);
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
    created_at: created.body.created_at,
    started_at: null,
    finished_at: null,
    updated_at: created.body.created_at,
  });
  expect(created.body).toEqual({
    id: expect.stringMatching(/^task_[0-9a-z]{26}$/),
    object: "task",
    kind: "video",
    input: "https://example.com/a.mp4",
    output: null,
    options: { format: "webm", codec: "vp9" },
    metadata: { a: [1] },
    status: "queued",
    error: null,
    steps: ["probe", "ingest", "video", "upload"].map(step),
    created_at: expect.any(Number),
    started_at: null,
    finished_at: null,
    updated_at: created.body.created_at,
  });
  expect(await call("GET", `/tasks/${created.body.id}`)).toEqual({ status: 200, body: created.body });
});

test("a probe step is created as the spec says, and read back", async () => {
  const created = await call("POST", "/steps", {
    kind: "probe",
    input: { url: "https://example.com/a.mp4" },
  });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    id: expect.stringMatching(/^step_[0-9a-z]{26}$/),
    object: "step",
    kind: "probe",
    input: { object: "external_file", url: "https://example.com/a.mp4" },
    output: null,
    options: {},
    status: "waiting",
    progress: null,
    error: null,
    created_at: expect.any(Number),
    started_at: null,
    finished_at: null,
    updated_at: created.body.created_at,
  });
  expect(await call("GET", `/steps/${created.body.id}`)).toEqual({ status: 200, body: created.body });
});

test("a task's step can be read, but only its task can be cancelled", async () => {
  const task = await createTask();
  const step = task.steps[2] as Step;
  expect(await call("GET", `/steps/${step.id}`)).toEqual({ status: 200, body: step });
  const refused = await call("POST", `/steps/${step.id}/cancel`);
  expect(refused).toMatchObject({ status: 400, body: { kind: "request_invalid" } });
  expect(refused.body.message).toContain(`POST /tasks/${task.id}/cancel`);
  expect((await call("GET", `/tasks/${task.id}`)).body.status).toBe("queued");
});

test("cancel ends a task once", async () => {
  const { id } = await createTask();
  const first = await call("POST", `/tasks/${id}/cancel`);
  expect(first).toMatchObject({ status: 200, body: { id, status: "cancelled" } });
  expect(await call("POST", `/tasks/${id}/cancel`)).toMatchObject({
    status: 409,
    body: { kind: "task_finished" },
  });
  expect((await call("GET", `/tasks/${id}`)).body).toEqual(first.body);
});

test("cancel ends a step once", async () => {
  const { id } = await createStep();
  expect(await call("POST", `/steps/${id}/cancel`)).toMatchObject({
    status: 200,
    body: { id, status: "cancelled" },
  });
  expect(await call("POST", `/steps/${id}/cancel`)).toMatchObject({
    status: 409,
    body: { kind: "step_finished" },
  });
});

test("a task is deleted when it no longer runs, and is gone then", async () => {
  const { id } = await createTask();
  expect(await call("DELETE", `/tasks/${id}`)).toMatchObject({ status: 409, body: { kind: "task_running" } });
  tasks.report(id, { type: "cancelled" });
  expect(await call("DELETE", `/tasks/${id}`)).toEqual({ status: 204, body: null });
  for (const [method, path] of [
    ["GET", ""],
    ["DELETE", ""],
    ["POST", "/cancel"],
  ]) {
    const gone = await call(method ?? "", `/tasks/${id}${path}`);
    expect(gone).toMatchObject({ status: 404, body: { kind: "task_not_found" } });
  }
});

test("another project's ids are unknown", async () => {
  const task = await createTask();
  const step = await createStep();
  const asked = [
    ["GET", `/tasks/${task.id}`, "task_not_found"],
    ["POST", `/tasks/${task.id}/cancel`, "task_not_found"],
    ["DELETE", `/tasks/${task.id}`, "task_not_found"],
    ["GET", `/steps/${step.id}`, "step_not_found"],
    ["POST", `/steps/${step.id}/cancel`, "step_not_found"],
    ["GET", `/steps/${task.steps[0]?.id}`, "step_not_found"],
    ["POST", `/steps/${task.steps[0]?.id}/cancel`, "step_not_found"],
  ] as const;
  for (const [method, path, kind] of asked) {
    expect(await call(method, path, undefined, OTHER)).toMatchObject({ status: 404, body: { kind } });
  }
  expect((await call("GET", "/tasks", undefined, OTHER)).body).toEqual([]);
  expect((await call("GET", "/steps", undefined, OTHER)).body).toEqual([]);
  expect((await tasks.get("mine", task.id))?.status).toBe("queued");
  expect((await steps.get("mine", step.id))?.status).toBe("waiting");
});

test.each([
  "task_",
  "x",
  "task_01kbb1d3x4e8v0t6m9q2y5z7av",
  "TASK_01KBB1D3X4E8V0T6M9Q2Y5Z7AV",
  "step_01kbb1d3x4e8v0t6m9q2y5z7av",
  "..%2F..%2Fetc%2Fpasswd",
  "%00",
  "%E0%A4%A",
  "__proto__",
  "constructor",
  "a".repeat(5000),
  "'; DROP TABLE run; --",
  "💥",
])("the id %.40j is 404, whatever is asked of it", async (id) => {
  const at = encodeURI(id).replaceAll("%25", "%");
  for (const [method, path, kind] of [
    ["GET", `/tasks/${at}`, "task_not_found"],
    ["DELETE", `/tasks/${at}`, "task_not_found"],
    ["POST", `/tasks/${at}/cancel`, "task_not_found"],
    ["GET", `/steps/${at}`, "step_not_found"],
    ["POST", `/steps/${at}/cancel`, "step_not_found"],
  ] as const) {
    const answer = await call(method, path);
    expect(answer).toMatchObject({ status: 404, body: { kind } });
    expect(answer.body.message.length).toBeLessThan(200);
  }
});
