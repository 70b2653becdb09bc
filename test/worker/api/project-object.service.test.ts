import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Connection } from "../../../src/runs/connection.ts";
import type { NewWebhookEndpoint } from "../../../src/runs/webhook-events.ts";
import { startService } from "./service.ts";

const KEY = randomUUID();
let service: Awaited<ReturnType<typeof startService>>;
beforeAll(async () => {
  service = await startService(KEY);
});
afterAll(() => service?.close());

async function ask<T>(method: string, path: string, body?: unknown, more = {}): Promise<[number, T]> {
  const headers = { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json", ...more };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(service.base + path, init);
  return [response.status, (response.status === 204 ? null : await response.json()) as T];
}

test("every table of a project answers in workerd, and every RPC result is disposed", async () => {
  const request = {
    name: "one",
    kind: "s3",
    endpoint: "https://s3.example.com",
    region: "auto",
    access_key_id: "AK",
    secret_access_key: "secret",
  };
  const once = { "Idempotency-Key": "one" };
  const [status, connection] = await ask<Connection>("POST", "/connections", request, once);
  expect([status, connection.is_default]).toEqual([201, true]);
  expect(await ask("POST", "/connections", request, once)).toEqual([200, connection]);
  const path = `/connections/${connection.id}`;
  const [, changed] = await ask<Connection>("PATCH", path, { name: "two" });
  expect(await ask("GET", "/connections")).toEqual([200, [changed]]);

  const hook = { url: "https://example.com/hooks", topics: ["task.failed"] };
  const [, { secret, ...endpoint }] = await ask<NewWebhookEndpoint>("POST", "/webhooks/endpoints", hook);
  expect(secret).toMatch(/^whsec_/);
  expect(await ask("GET", "/webhooks/endpoints")).toEqual([200, [endpoint]]);
  expect(await ask("POST", "/webhooks/secret/rotate", {})).toMatchObject([200, { previous_until: null }]);
  const reencrypted = { connections: 1, webhook_secrets: 2, reencrypted: 0 };
  expect(await ask("POST", "/connections/reencrypt")).toMatchObject([200, reencrypted]);
  for (const list of ["/events", "/webhooks/deliveries", "/tasks", "/steps"])
    expect(await ask("GET", list)).toEqual([200, []]);

  expect(await ask("DELETE", path)).toEqual([204, null]);
  expect(await ask("DELETE", path)).toMatchObject([404, { kind: "connection_not_found" }]);
  expect(await ask("DELETE", `/webhooks/endpoints/${endpoint.id}`)).toEqual([204, null]);
  expect(service.logs()).not.toMatch(/disposed|"level":\s*"error"/);
});
