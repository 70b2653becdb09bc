import { expect, test } from "vitest";
import { createMemoryApi } from "./memory-api.ts";
import type { MemoryLimits } from "./memory-keys.ts";

const TASK = { input: "https://example.com/a.mp4", kind: "video" };
const POLICY = '"requests";q=5;w=60, "creations";q=2;w=60';

function open(limits: MemoryLimits) {
  const { app } = createMemoryApi({}, {}, limits);
  return async (method: string, path: string, body?: unknown, more: Record<string, string> = {}) => {
    const headers = { Authorization: "Bearer good-key", "Content-Type": "application/json", ...more };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const response = await app.request(path, init);
    const answer = (await response.json()) as { kind: string; message: string };
    const of = (name: string) => response.headers.get(name);
    return {
      status: response.status,
      kind: answer.kind,
      message: answer.message,
      limit: of("RateLimit"),
      policy: of("RateLimit-Policy"),
      wait: of("Retry-After"),
    };
  };
}

test("reports the limits with every response, and rejects excess requests until the minute ends", async () => {
  const clock = { now: 1_795_170_600_000 };
  const ask = open({ requests: 5, creations: 2, now: () => clock.now });
  expect(await ask("GET", "/tasks")).toMatchObject({
    status: 200,
    limit: '"requests";r=4;t=60',
    policy: POLICY,
    wait: null,
  });
  clock.now += 13_000;
  // Requests rejected for another reason count too.
  expect(await ask("GET", "/nowhere")).toMatchObject({ status: 404, limit: '"requests";r=3;t=47' });
  expect(await ask("GET", "/tasks?limit=0")).toMatchObject({ status: 400, limit: '"requests";r=2;t=47' });
  expect(await ask("GET", "/keys")).toMatchObject({ status: 200, limit: '"requests";r=1;t=47' });
  expect(await ask("GET", "/tasks")).toMatchObject({ status: 200, limit: '"requests";r=0;t=47' });
  expect(await ask("GET", "/tasks")).toEqual({
    status: 429,
    kind: "rate_limited",
    limit: '"requests";r=0;t=47',
    policy: POLICY,
    wait: "47",
    message: "A key may make 5 requests a minute; try again in 47 seconds.",
  });
  // Another key has its own minute.
  const other = { Authorization: "Bearer other-key" };
  expect(await ask("GET", "/tasks", undefined, other)).toMatchObject({ limit: '"requests";r=4;t=60' });
  clock.now += 47_000;
  expect(await ask("GET", "/tasks")).toMatchObject({ status: 200, limit: '"requests";r=4;t=60' });
});

test("shows no limits to unknown keys or on open paths", async () => {
  const ask = open({ requests: 1 });
  const nobody = { Authorization: "Bearer nobody" };
  for (let time = 0; time < 3; time++) {
    expect(await ask("GET", "/tasks", undefined, nobody)).toMatchObject({
      status: 401,
      limit: null,
      policy: null,
    });
    expect(await ask("GET", "/health")).toMatchObject({ status: 200, limit: null });
  }
});

test("limits creations separately, and does not count an idempotent repeat", async () => {
  const ask = open({ requests: 20, creations: 3 });
  expect(await ask("POST", "/tasks", TASK)).toMatchObject({
    status: 201,
    limit: '"requests";r=19;t=60, "creations";r=2;t=60',
  });
  const once = { "Idempotency-Key": "once" };
  expect((await ask("POST", "/tasks", TASK, once)).status).toBe(201);
  expect(await ask("POST", "/tasks", TASK, once)).toMatchObject({
    status: 200,
    limit: '"requests";r=17;t=60',
  });
  expect((await ask("POST", "/keys", { name: "third" })).status).toBe(201);
  const later = { "Idempotency-Key": "later" };
  expect(await ask("POST", "/steps", { kind: "probe", input: { url: TASK.input } }, later)).toMatchObject({
    status: 429,
    kind: "rate_limited",
    wait: "60",
    message: "A key may make 3 creations a minute; try again in 60 seconds.",
  });
  // A rejected request leaves its key unused.
  expect((await ask("POST", "/tasks", TASK, later)).status).toBe(429);
  expect((await ask("GET", "/tasks")).status).toBe(200);
});

test("limits how many tasks and steps may wait", async () => {
  const ask = open({ waiting: 2 });
  expect((await ask("POST", "/tasks", TASK)).status).toBe(201);
  const probe = { kind: "probe", input: { url: TASK.input } };
  expect((await ask("POST", "/steps", probe)).status).toBe(201);
  for (const [path, body] of [
    ["/tasks", TASK],
    ["/steps", probe],
  ] as const) {
    expect(await ask("POST", path, body)).toMatchObject({ status: 429, kind: "rate_limited", wait: "10" });
  }
  // Validation comes first.
  expect((await ask("POST", "/tasks", { ...TASK, kind: "film" })).status).toBe(400);
  expect((await ask("POST", "/keys", { name: "waits for nothing" })).status).toBe(201);
});
