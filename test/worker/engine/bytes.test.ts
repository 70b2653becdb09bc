import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../../src/core/task.ts";
import type { WebhookDelivery, WebhookEvent } from "../../../src/core/webhook.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { type Receiver, startReceiver } from "../webhooks/receiver.ts";
import { createRig } from "./rig.ts";

const rig = createRig();
let origin: Origin;
let receiver: Receiver;

beforeAll(async () => {
  [origin, receiver] = await Promise.all([startOrigin(), startReceiver(), rig.server.listen()]);
});
afterAll(async () => {
  await rig.server.close();
  await receiver?.close();
  await origin?.close();
});

const TASKS = 40;

async function databaseBytes(): Promise<number> {
  const response = await rig.server.fetch("/metrics", { headers: { Authorization: "Bearer key-of-alpha" } });
  return Number(/^framewright_database_bytes (\d+)$/m.exec(await response.text())?.[1]);
}

async function finish(count: number): Promise<Task[]> {
  const input = origin.serve("/still.png", { file: await clip("png") });
  const body = { input, kind: "image", options: { format: "webp", width: 64 } };
  const made = await Promise.all(
    Array.from({ length: count }, async () => (await rig.call("/tasks", { method: "POST", body })).json),
  );
  return Promise.all(made.map(({ id }) => rig.finished(id)));
}

const list = async <T>(path: string): Promise<T[]> => (await rig.call(path)).json;
const delivered = () =>
  rig.until(
    () => list("/webhooks/deliveries?status=pending"),
    (pending) => pending.length === 0,
  );

test("finished tasks take little of their project's database, and all can be read as it was", async () => {
  await finish(2);
  const start = await databaseBytes();
  await finish(TASKS);
  const alone = await databaseBytes();
  const url = receiver.take("/hooks");
  const endpoint = (await rig.call("/webhooks/endpoints", { method: "POST", body: { url } })).json;
  const tasks = await finish(TASKS);
  await delivered();
  const together = await databaseBytes();
  expect((alone - start) / TASKS).toBeLessThan(2048);
  // Three deliveries, each with its attempts.
  expect((together - alone) / TASKS).toBeLessThan(4096);

  const task = tasks[0];
  expect(await list(`/tasks?limit=100`)).toContainEqual(task);
  const events = await list<WebhookEvent>("/events?limit=100");
  const posted = receiver.got("/hooks").filter(({ event }) => event.data.id === task?.id);
  expect(posted.map(({ event }) => event.kind).sort()).toEqual([
    "task.created",
    "task.succeeded",
    "task.updated",
  ]);
  expect(posted.find(({ event }) => event.kind === "task.succeeded")?.event.data).toEqual(task);
  for (const { event } of posted) {
    expect((await rig.call(`/events/${event.id}`)).json).toEqual(event);
    expect(events.filter(({ id }) => id === event.id).every((each) => isDeepStrictEqual(each, event))).toBe(
      true,
    );
  }
  await rig.call(`/webhooks/endpoints/${endpoint.id}`, { method: "DELETE" });
});

test("a deleted task leaves nothing in its project's database", async () => {
  const url = receiver.take("/gone");
  await rig.call("/webhooks/endpoints", { method: "POST", body: { url } });
  const [task] = await finish(1);
  await delivered();
  const ours = async (path: string) =>
    (await list<object>(path)).filter((each) => JSON.stringify(each).includes(task?.id ?? ""));
  expect(await ours("/events?limit=100")).toHaveLength(3);
  expect((await rig.call(`/tasks/${task?.id}`, { method: "DELETE" })).status).toBe(204);
  // KV is slow to forget.
  const { KV } = await rig.worker().getEnv();
  await KV.put(`task:${task?.id}`, JSON.stringify({ project: "alpha", record: task }));
  expect((await rig.call(`/tasks/${task?.id}`)).status).toBe(404);
  expect(await ours("/events?limit=100")).toEqual([]);
  expect(await ours("/tasks?limit=100")).toEqual([]);
  const events = new Set(receiver.got("/gone").map(({ event }) => event.id));
  const deliveries = await list<WebhookDelivery>("/webhooks/deliveries?limit=100");
  expect(deliveries.filter(({ event_id }) => events.has(event_id))).toEqual([]);
});
