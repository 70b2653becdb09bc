import { afterEach, expect, test, vi } from "vitest";
import { ERROR_KINDS, MediaError, RUN_ERROR_KINDS } from "../../../src/media/errors.ts";
import { createMemoryApi, KEY } from "./memory-api.ts";

const ID = "task_01kbb1d3x4e8v0t6m9q2y5z7av";
const REQUEST_ID = /^req_[0-9a-z]{26}$/;

afterEach(() => vi.restoreAllMocks());

function failing(error: unknown) {
  const api = createMemoryApi();
  api.tasks.read = () => Promise.reject(error);
  return api.app;
}

test("every error carries a unique request id in its body and header", async () => {
  const { app } = createMemoryApi();
  const seen = new Set<string>();
  for (const path of ["/tasks", "/nope", `/tasks/${ID}`, "/tasks?limit=0", "/media/x", "/docs/x"]) {
    const response = await app.request(path, path === "/tasks" ? {} : { headers: KEY });
    const body = (await response.json()) as { request_id: string; message: string; reason?: object };
    expect(body.request_id).toMatch(REQUEST_ID);
    expect(response.headers.get("Request-Id")).toBe(body.request_id);
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(Object.keys(body).filter((key) => !["param", "reason"].includes(key))).toEqual([
      "kind",
      "message",
      "request_id",
    ]);
    const rule = { code: "field", field: "limit", rule: body.message.slice("limit ".length) };
    expect(body.reason).toEqual(path === "/tasks?limit=0" ? rule : undefined);
    seen.add(body.request_id);
  }
  expect(seen.size).toBe(6);
});

test("successful responses carry a request id too", async () => {
  const { app } = createMemoryApi();
  for (const path of ["/health", "/tasks", "/openapi.json", "/docs"]) {
    const response = await app.request(path, { headers: KEY });
    expect(response.status).toBe(200);
    expect(response.headers.get("Request-Id")).toMatch(REQUEST_ID);
  }
});

test("hides the details of an unknown error from the client and logs them with the request id", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const response = await failing(new Error("password hunter2 at /srv/db.ts")).request(`/tasks/${ID}`, {
    headers: KEY,
  });
  const text = await response.text();
  expect(response.status).toBe(500);
  expect(text).not.toMatch(/hunter2|srv|password/);
  const { kind, request_id } = JSON.parse(text);
  expect(kind).toBe("internal_error");
  expect(log).toHaveBeenCalledTimes(1);
  const entry = JSON.parse(String(log.mock.calls[0]?.[0]));
  expect(entry).toMatchObject({ request_id, method: "GET", route: "/tasks/:id" });
  expect(entry.error).toContain("hunter2");
});

test("logs neither the API key nor the signature of a media URL", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const { app, signer } = createMemoryApi();
  await failing("thrown text").request(`/tasks/${ID}`, { headers: KEY });
  const url = await signer.sign(`out/${ID}/a.mp4`, Date.now() / 1000 + 60, "http://localhost");
  const broken = createMemoryApi();
  broken.objects.get = () => {
    throw new Error("broken disk");
  };
  expect((await broken.app.request(url)).status).toBe(500);
  expect((await app.request(url)).status).toBe(404);
  const logged = log.mock.calls.map(String).join();
  expect(log).toHaveBeenCalledTimes(2);
  expect(logged).not.toContain("good-key");
  expect(logged).not.toContain(url.split("/")[4]);
});

test.each(RUN_ERROR_KINDS)(
  "%s is for runs only, so a request that hits it answers internal_error",
  async (kind) => {
    vi.spyOn(console, "error").mockImplementation(() => {});
    const response = await failing(new MediaError(kind, "detail")).request(`/tasks/${ID}`, { headers: KEY });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ kind: "internal_error" });
  },
);

test.each([
  { kind: "request_invalid", status: 400 },
  { kind: "input_required", status: 400 },
  { kind: "invalid_input", status: 400 },
  { kind: "invalid_kind", status: 400 },
  { kind: "invalid_format", status: 400 },
  { kind: "invalid_codec", status: 400 },
  { kind: "invalid_options", status: 400 },
  { kind: "invalid_output", status: 400 },
  { kind: "connection_required", status: 400 },
  { kind: "token_missing", status: 401 },
  { kind: "token_invalid", status: 401 },
  { kind: "forbidden", status: 403 },
  { kind: "task_not_found", status: 404 },
  { kind: "step_not_found", status: 404 },
  { kind: "connection_not_found", status: 404 },
  { kind: "media_not_found", status: 404 },
  { kind: "route_not_found", status: 404 },
  { kind: "task_finished", status: 409 },
  { kind: "step_finished", status: 409 },
  { kind: "task_running", status: 409 },
  { kind: "step_running", status: 409 },
  { kind: "connection_in_use", status: 409 },
  { kind: "idempotency_conflict", status: 409 },
  { kind: "payload_too_large", status: 413 },
  { kind: "idempotency_mismatch", status: 422 },
  { kind: "rate_limited", status: 429 },
  { kind: "service_unavailable", status: 503 },
] as const)("$kind answers $status", async ({ kind, status }) => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const app = failing(new MediaError(kind, "Plain words.", { param: "a.b" }));
  const response = await app.request(`/tasks/${ID}`, { headers: KEY });
  expect(response.status).toBe(status);
  const request_id = response.headers.get("Request-Id");
  expect(await response.json()).toEqual({ kind, message: "Plain words.", param: "a.b", request_id });
  expect(ERROR_KINDS).toContain(kind);
});

test.each([
  { path: "/nope", method: "GET" },
  { path: "/tasks/", method: "GET" },
  { path: "/tasks/a/b", method: "GET" },
  { path: "/tasks//cancel", method: "POST" },
  { path: "/Tasks", method: "GET" },
  { path: "/docs/../tasks/x/y", method: "GET" },
  { path: "/docs/swagger-ui.css.map", method: "GET" },
  { path: "/docs/LICENSE", method: "GET" },
])("$path is not a route", async ({ path, method }) => {
  const response = await createMemoryApi().app.request(path, { method, headers: KEY });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ kind: "route_not_found" });
});

test.each([
  { method: "PUT", path: "/tasks", methods: ["POST", "GET"] },
  { method: "DELETE", path: "/tasks", methods: ["POST", "GET"] },
  { method: "PATCH", path: `/tasks/${ID}`, methods: ["GET", "DELETE"] },
  { method: "GET", path: `/tasks/${ID}/cancel`, methods: ["POST"] },
  { method: "PUT", path: `/steps/${ID}`, methods: ["GET", "DELETE"] },
  { method: "POST", path: "/health", methods: ["GET"] },
  { method: "POST", path: "/openapi.json", methods: ["GET"] },
  { method: "PATCH", path: "/media/x", methods: ["GET", "HEAD"] },
])(
  "$method $path is not a route, and the message lists the methods that are",
  async ({ method, path, methods }) => {
    const response = await createMemoryApi().app.request(path, { method, headers: KEY });
    expect(response.status).toBe(404);
    const { kind, message } = (await response.json()) as { kind: string; message: string };
    expect(kind).toBe("route_not_found");
    for (const allowedMethod of methods) expect(message).toContain(allowedMethod);
    expect(message).toContain(`not ${method}`);
  },
);

test("answers a preflight without a key", async () => {
  const headers = {
    Origin: "https://page.example",
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type,idempotency-key,last-event-id",
  };
  for (const path of ["/tasks", `/tasks/${ID}/cancel`, "/media/x"]) {
    const response = await createMemoryApi().app.request(path, { method: "OPTIONS", headers });
    expect(response.status).toBe(204);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    const allowed = response.headers.get("Access-Control-Allow-Headers")?.toLowerCase().split(",");
    const requested = headers["Access-Control-Request-Headers"].split(",");
    expect(allowed).toEqual(expect.arrayContaining(requested));
    expect(response.headers.get("Access-Control-Allow-Methods")?.split(",")).toEqual(
      expect.arrayContaining(["GET", "POST", "DELETE"]),
    );
    expect(response.headers.get("Access-Control-Allow-Credentials")).toBe(null);
  }
});

test("pages of other origins can read responses, errors included", async () => {
  const { app } = createMemoryApi();
  for (const headers of [{ ...KEY, Origin: "https://page.example" }, { Origin: "https://page.example" }]) {
    const response = await app.request("/tasks", { headers });
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(response.headers.get("Access-Control-Expose-Headers")?.split(",")).toEqual(
      expect.arrayContaining(["Request-Id", "Link", "Has-More", "Retry-After"]),
    );
  }
});

test("responses forbid caching, sniffing and framing", async () => {
  const response = await createMemoryApi().app.request("/tasks", { headers: KEY });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
  });
});

test("sends Retry-After while the service is unavailable", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  const app = failing(new MediaError("service_unavailable", "Away."));
  const response = await app.request(`/tasks/${ID}`, { headers: KEY });
  expect(response.headers.get("Retry-After")).toBe("5");
});

test("health needs no key", async () => {
  const response = await createMemoryApi().app.request("/health");
  expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
});
