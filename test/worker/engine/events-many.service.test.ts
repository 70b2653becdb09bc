import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestHarness } from "wrangler";
import { readEvents } from "../../../src/client/read-events.ts";
import type { Task } from "../../../src/runs/task.ts";
import { NO_LIMITS } from "../../fixtures/no-limits.ts";

const LISTENERS = 1000;
// The benchmark of events follows a thousand tasks: creating them takes longer than following them.
const TASKS = 100;
const AT_ONCE = 25;
const KEY = "key-of-many";

// The engine would be busy with a thousand runs; here they only queue, in the same objects as real ones.
const server = createTestHarness({
  workers: [
    {
      configPath: "./wrangler.toml",
      vars: { ALLOW_PRIVATE_NETWORK: "true", NATIVE_INSTANCES: "0", ...NO_LIMITS },
      secrets: {
        API_KEYS: KEY,
        MEDIA_SIGNING_KEY: "a-signing-key-of-32-characters-for-tests",
        CONNECTION_KEYS: "a-connection-key-for-tests",
      },
      bindingOverrides: { ENCODER: "framewright", RUN: "idle-runs", RUN_2: "idle-runs", RUN_3: "idle-runs" },
    },
    {
      config: {
        name: "idle-runs",
        main: "test/worker/engine/idle-runs.js",
        compatibility_date: "2026-11-17",
      },
    },
  ],
});
let base: string;
beforeAll(async () => {
  base = (await server.listen()).url.origin;
});
afterAll(() => server.close());

const ask = (path: string, init: RequestInit = {}) =>
  fetch(base + path, {
    ...init,
    headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" },
  });

async function create(): Promise<string> {
  const body = JSON.stringify({ input: "https://example.com/a.mp4", kind: "video" });
  const response = await ask("/tasks", { method: "POST", body });
  expect(response.status).toBe(201);
  return ((await response.json()) as Task).id;
}

/** Runs the same work for many items, {@link AT_ONCE} at a time. */
async function each<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
  }
  return results;
}

/** Follows a task from its first event. */
async function listen(id: string) {
  const { status, body } = await ask(`/tasks/${id}/events`);
  expect(status).toBe(200);
  const events = readEvents(body as ReadableStream<Uint8Array>);
  const next = async (): Promise<Task | null> => {
    const { done, value } = await events.next();
    return done ? null : (JSON.parse(value.data).record as Task);
  };
  return { next, first: await next() };
}

const states = (tasks: readonly (Task | null)[]) => tasks.map((task) => task && [task.id, task.status]);

test("a thousand listeners of one task all receive its end", async () => {
  const id = await create();
  const listeners = await each(Array(LISTENERS).fill(id), listen);
  expect(new Set(listeners.map(({ first }) => first?.status))).toEqual(new Set(["queued"]));
  const received = Promise.all(listeners.map(({ next }) => next()));
  expect((await ask(`/tasks/${id}/cancel`, { method: "POST" })).status).toBe(200);
  expect(states(await received)).toEqual(Array(LISTENERS).fill([id, "cancelled"]));
  expect(new Set(await Promise.all(listeners.map(({ next }) => next())))).toEqual(new Set([null]));
});

test("listeners of many tasks each receive their own task's events", async () => {
  const ids = await each(Array.from({ length: TASKS }), create);
  expect(new Set(ids).size).toBe(TASKS);
  const listeners = await each(ids, listen);
  expect(states(listeners.map(({ first }) => first))).toEqual(ids.map((id) => [id, "queued"]));
  const received = Promise.all(listeners.map(({ next }) => next()));
  await each(ids, (id) => ask(`/tasks/${id}/cancel`, { method: "POST" }));
  expect(states(await received)).toEqual(ids.map((id) => [id, "cancelled"]));
});
