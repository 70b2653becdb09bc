import { beforeEach, expect, test } from "vitest";
import { createMemoryApi } from "./memory-api.ts";

const REQUEST = { url: "https://example.com/hooks", topics: ["task.succeeded", "task.failed"] };
const INPUT = "https://example.com/a.mp4";

let api: ReturnType<typeof createMemoryApi>;
beforeEach(() => {
  api = createMemoryApi();
});

async function ask(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
  const headers = { Authorization: "Bearer good-key", "Content-Type": "application/json", ...more };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await api.app.request(path, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null };
}

test("creates, reads, updates, lists and deletes an endpoint, and shows its secret only once", async () => {
  const { status, body } = await ask("POST", "/webhooks/endpoints", REQUEST);
  const { secret, ...endpoint } = body;
  expect(status).toBe(201);
  expect(endpoint).toEqual({
    ...REQUEST,
    id: expect.stringMatching(/^we_[0-9a-z]{26}$/),
    object: "webhook_endpoint",
    status: "active",
    created_at: expect.any(Number),
    updated_at: endpoint.created_at,
  });
  expect(atob(secret.slice("whsec_".length))).toHaveLength(32);
  const path = `/webhooks/endpoints/${endpoint.id}`;
  expect((await ask("GET", path)).body).toEqual(endpoint);
  const second = (await ask("POST", "/webhooks/endpoints", { url: REQUEST.url })).body;
  expect([second.topics, second.secret === secret]).toEqual([["*"], false]);
  const page = await ask("GET", "/webhooks/endpoints?limit=1");
  expect([page.body[0].id, page.body[0].secret, page.headers.get("Has-More")]).toEqual([
    second.id,
    undefined,
    "true",
  ]);
  const change = { status: "disabled", topics: ["*", "*"], url: "https://example.org/" };
  const changed = await ask("PATCH", path, change);
  expect(changed.body).toEqual({ ...endpoint, ...change, topics: ["*"], updated_at: expect.any(Number) });
  expect((await ask("GET", "/webhooks/endpoints?status=disabled")).body).toEqual([changed.body]);
  expect((await ask("DELETE", path)).status).toBe(204);
  for (const method of ["GET", "DELETE"])
    expect((await ask(method, path)).body.kind).toBe("endpoint_not_found");
  expect((await ask("PATCH", path, { status: "active" })).body.kind).toBe("endpoint_not_found");
  expect((await ask("POST", `${path}/rotate`, {})).body.kind).toBe("endpoint_not_found");
});

test("repeating a request with its Idempotency-Key returns the same endpoint and secret, and creates one", async () => {
  const key = { "Idempotency-Key": "once" };
  const first = await ask("POST", "/webhooks/endpoints", REQUEST, key);
  const repeat = await ask("POST", "/webhooks/endpoints", REQUEST, key);
  expect([first.status, repeat.status, repeat.body]).toEqual([201, 200, first.body]);
  const theirs = { ...key, Authorization: "Bearer other-key" };
  expect((await ask("POST", "/webhooks/endpoints", REQUEST, theirs)).status).toBe(201);
  expect((await ask("GET", "/webhooks/endpoints")).body).toHaveLength(1);
});

test("a project has at most twenty endpoints", async () => {
  for (let count = 0; count < 20; count++)
    expect((await ask("POST", "/webhooks/endpoints", REQUEST)).status).toBe(201);
  const { status, body } = await ask("POST", "/webhooks/endpoints", REQUEST);
  expect([status, body.kind]).toEqual([400, "request_invalid"]);
});

test.each([
  { wrong: { url: undefined }, param: "url" },
  { wrong: { url: 5 }, param: "url" },
  { wrong: { url: "" }, param: "url" },
  { wrong: { url: "example.com/hooks" }, param: "url" },
  { wrong: { url: "ftp://example.com/" }, param: "url" },
  { wrong: { url: "http://example.com/" }, param: "url" },
  { wrong: { url: "https://user:word@example.com/" }, param: "url" },
  { wrong: { url: "https://exam\nple.com/" }, param: "url" },
  { wrong: { url: `https://example.com/${"x".repeat(8192)}` }, param: "url" },
  { wrong: { url: "https://localhost/" }, param: "url" },
  { wrong: { url: "https://127.0.0.1/" }, param: "url" },
  { wrong: { url: "https://0x7f.1/" }, param: "url" },
  { wrong: { url: "https://[::ffff:10.0.0.1]/" }, param: "url" },
  { wrong: { url: "https://169.254.169.254/latest" }, param: "url" },
  { wrong: { topics: [] }, param: "topics" },
  { wrong: { topics: "task.failed" }, param: "topics" },
  { wrong: { topics: ["task.failed", "task.lost"] }, param: "topics" },
  { wrong: { topics: [1] }, param: "topics" },
  { wrong: { secret: "whsec_mine" }, param: "secret" },
])("rejects the endpoint $wrong", async ({ wrong, param }) => {
  const { status, body } = await ask("POST", "/webhooks/endpoints", { ...REQUEST, ...wrong });
  expect([status, body.kind, body.param]).toEqual([400, "request_invalid", param]);
  if ("url" in wrong && wrong.url !== undefined && wrong.url !== 5) {
    const task = await ask("POST", "/tasks", { input: INPUT, kind: "audio", webhook_url: wrong.url });
    expect([task.status, task.body.kind, task.body.param]).toEqual([400, "request_invalid", "webhook_url"]);
  }
});

test.each([
  { change: {}, param: undefined },
  { change: { status: "gone" }, param: "status" },
  { change: { url: "http://example.com/" }, param: "url" },
  { change: { url: "https://10.0.0.1/" }, param: "url" },
  { change: { topics: [] }, param: "topics" },
  { change: { id: "we_1" }, param: "id" },
])("rejects the change $change", async ({ change, param }) => {
  const { id } = (await ask("POST", "/webhooks/endpoints", REQUEST)).body;
  const { status, body } = await ask("PATCH", `/webhooks/endpoints/${id}`, change);
  expect([status, body.kind, body.param]).toEqual([400, "request_invalid", param]);
});

test.each([-1, 1.5, 604_801, "day", null])(
  "rejects keeping a secret for %j seconds",
  async (keep_seconds) => {
    const { status, body } = await ask("POST", "/webhooks/secret/rotate", { keep_seconds });
    expect([status, body.kind, body.param]).toEqual([400, "request_invalid", "keep_seconds"]);
  },
);

test("shows a rotated project secret, and keeps the previous one for a day", async () => {
  const first = (await ask("POST", "/webhooks/secret/rotate", {})).body;
  expect(first).toMatchObject({ object: "webhook_secret", endpoint_id: null, previous_until: null });
  const second = (await ask("POST", "/webhooks/secret/rotate", {})).body;
  expect(second.secret).not.toBe(first.secret);
  expect(second.previous_until).toBe(second.created_at + 86_400_000);
});

test("allows http and private hosts where settings permit all or name them", async () => {
  const url = "http://127.0.0.1:4711/hooks";
  api = createMemoryApi({ allowPrivate: true });
  expect((await ask("POST", "/webhooks/endpoints", { url })).status).toBe(201);
  api = createMemoryApi({ allowed_hosts: ["LOCALHOST", "127.0.0.1:4711"] });
  expect((await ask("POST", "/webhooks/endpoints", { url })).status).toBe(201);
  expect((await ask("POST", "/webhooks/endpoints", { url: "http://localhost:4711/" })).status).toBe(201);
  expect((await ask("POST", "/webhooks/endpoints", { url: "http://127.0.0.1:4712/" })).status).toBe(400);
  expect((await ask("POST", "/webhooks/endpoints", { url: "http://example.com/" })).status).toBe(400);
});

test("a retry keeps the webhook URL of its task, which no task shows", async () => {
  const webhook_url = "https://example.com/own";
  const task = (await ask("POST", "/tasks", { input: INPUT, kind: "audio", webhook_url })).body;
  await ask("POST", `/tasks/${task.id}/cancel`);
  const retry = (await ask("POST", `/tasks/${task.id}/retry`)).body;
  expect(JSON.stringify([task, retry])).not.toContain(webhook_url);
  expect(await api.tasks.webhookUrl("mine", retry.id)).toBe(webhook_url);
});

test.each([
  "/events?status=pending",
  "/webhooks/endpoints?kind=s3",
  "/events?after=task_1",
  "/webhooks/deliveries?status=gone",
])("rejects %s", async (path) => {
  expect((await ask("GET", path)).body.kind).toBe("request_invalid");
});

test.each([
  { method: "GET", path: "/events/evt_00000000000000000000000000", kind: "event_not_found" },
  { method: "GET", path: "/events/mine", kind: "event_not_found" },
  { method: "GET", path: "/webhooks/deliveries/dlv_00000000000000000000000000", kind: "delivery_not_found" },
  {
    method: "POST",
    path: "/webhooks/deliveries/dlv_00000000000000000000000000/replay",
    kind: "delivery_not_found",
  },
  { method: "POST", path: "/webhooks/deliveries/x/replay", kind: "delivery_not_found" },
])("$method $path is not found", async ({ method, path, kind }) => {
  const { status, body } = await ask(method, path);
  expect([status, body.kind]).toEqual([404, kind]);
});
