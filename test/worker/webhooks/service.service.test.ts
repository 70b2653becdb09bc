import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Task } from "../../../src/runs/task.ts";
import type { NewWebhookEndpoint, WebhookDelivery, WebhookSecret } from "../../../src/runs/webhook-events.ts";
import { type Service, startService } from "../../../worker/local/service.ts";
import { parseSettings } from "../../../worker/local/settings.ts";
import { NO_LIMITS } from "../../fixtures/no-limits.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const KEY = "key-of-the-test";
const CONNECTION_KEYS = `connection-key-${randomUUID()}`;
let folder: string;
let service: Service;
let receiver: Receiver;

async function start(more: Record<string, string> = {}): Promise<Service> {
  const settings = { PORT: "0", API_KEYS: KEY, STATE_DIR: folder, CONNECTION_KEYS, ...NO_LIMITS, ...more };
  const times = { WEBHOOK_RETRY_SECONDS: "0.05", WEBHOOK_TIMEOUT_SECONDS: "4" };
  return startService({ ...parseSettings({ ...settings, ...times }), native: 0 });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-webhooks-"));
  [service, receiver] = await Promise.all([start(), startReceiver()]);
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function ask<T>(method: string, path: string, body?: unknown, more = {}): Promise<T> {
  const headers = { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json", ...more };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(service.url + path, init);
  expect([path, response.ok]).toEqual([path, true]);
  return response.status === 204 ? (null as T) : await response.json();
}

const deliveries = () => ask<WebhookDelivery[]>("GET", "/webhooks/deliveries?limit=100");
// The input is a JSON response of this service, so the task fails.
const newTask = (webhook_url?: string) =>
  ask<Task>("POST", "/tasks", { input: `${service.url}/health`, kind: "audio", webhook_url });

const succeeded = (url: string, count: number) =>
  vi.waitUntil(
    async () => {
      const matching = (await deliveries()).filter((each) => each.url === url && each.status === "succeeded");
      return matching.length >= count && matching;
    },
    { timeout: 120_000, interval: 100 },
  );

test("retries a receiver after every kind of failure, with the same event and a timestamp for each attempt", async () => {
  const elsewhere = receiver.serve("/elsewhere");
  const answers = [500, "hang", "reset", { redirect: elsewhere }, 200] as const;
  const url = receiver.serve("/failing", (request) => answers[request] ?? 200);
  const request = { url, topics: ["task.failed"] };
  const once = () =>
    ask<NewWebhookEndpoint>("POST", "/webhooks/endpoints", request, { "Idempotency-Key": "one-endpoint" });
  const endpoint = await once();
  expect(await once()).toEqual(endpoint);
  await newTask();
  const [delivery] = await succeeded(url, 1);
  expect(delivery).toMatchObject({ error: null, next_attempt_at: null, endpoint_id: endpoint.id });
  expect(delivery?.attempts.map(({ response_status, error }) => [response_status, error])).toEqual([
    [500, "It answered 500."],
    [null, "No answer came within 4 s."],
    [null, "It could not be reached."],
    [301, "It answered 301; redirects are not followed."],
    [200, null],
  ]);
  const got = receiver.requests("/failing");
  expect(got).toHaveLength(5);
  expect(new Set(got.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(got.map(({ body }) => body)).size).toBe(1);
  const times = got.map(({ headers }) => Number(headers["webhook-timestamp"]));
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(times.at(-1)).toBeGreaterThan(times[0] ?? 0);
  for (const { body, headers } of got) new Webhook(endpoint.secret).verify(body, headers);
  expect(receiver.requests("/elsewhere")).toEqual([]);
});

test("a service killed between a task's end and its delivery delivers after a restart, and stores no plain secrets", async () => {
  const { secret } = await ask<WebhookSecret>("POST", "/webhooks/secret/rotate", {});
  let killed = false;
  const webhook_url = receiver.serve("/killed", () => (killed ? 200 : "hang"));
  const { id } = await newTask(webhook_url);
  const failed = await vi.waitUntil(
    async () => {
      const task = await ask<Task>("GET", `/tasks/${id}`);
      return task.status === "failed" && task;
    },
    { timeout: 60_000, interval: 20 },
  );
  await service.kill("SIGKILL");
  killed = true;
  service = await start({ CONNECTION_KEYS: `another-connection-key,${CONNECTION_KEYS}` });
  const sent = await succeeded(webhook_url, 3);
  expect(sent.map(({ kind }) => kind).toSorted()).toEqual(["task.created", "task.failed", "task.updated"]);
  const last = receiver.requests("/killed").findLast(({ event }) => event.kind === "task.failed");
  expect(last?.event.data).toEqual(failed);
  for (const { body, headers } of receiver.requests("/killed")) new Webhook(secret).verify(body, headers);

  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((each) => each.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = await Promise.all(files.map((file) => readFile(file, "latin1")));
  const filesWith = (text: string) => files.filter((_, index) => texts[index]?.includes(text));
  // The search finds text that is stored.
  expect(filesWith(webhook_url).length).toBeGreaterThan(0);
  expect(filesWith(secret.slice("whsec_".length))).toEqual([]);
  expect(filesWith("whsec_")).toEqual([]);
});
