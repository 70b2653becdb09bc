import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Step } from "../../../src/runs/step.ts";
import type { Task } from "../../../src/runs/task.ts";
import type {
  NewWebhookEndpoint,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEvent,
  WebhookSecret,
} from "../../../src/runs/webhook-events.ts";
import { clip } from "../../fixtures/clips.ts";
import { type Origin, startOrigin } from "../../fixtures/origin.ts";
import { type Received, type Receiver, startReceiver } from "../webhooks/receiver.ts";
import { createRig } from "./rig.ts";

const rig = createRig({ WEBHOOK_RETRY_SECONDS: "0.1" });
let origin: Origin;
let receiver: Receiver;
let missing: string;

beforeAll(async () => {
  [origin, receiver] = await Promise.all([startOrigin(), startReceiver(), rig.server.listen()]);
  missing = origin.serve("/missing.wav", { status: 404, file: await clip("wav") });
});
afterAll(async () => {
  await rig.server.close();
  await receiver?.close();
  await origin?.close();
});

async function ask<T>(method: string, path: string, body?: unknown, status = 200, key?: string): Promise<T> {
  const answer = await rig.call(path, { method, ...(body !== undefined && { body }), ...(key && { key }) });
  expect([path, answer.status, answer.json?.message]).toEqual([path, status, answer.json?.message]);
  return answer.json;
}

const addEndpoint = (url: string, topics?: string[], key?: string) =>
  ask<NewWebhookEndpoint>("POST", "/webhooks/endpoints", { url, ...(topics && { topics }) }, 201, key);
const removeEndpoint = ({ id }: WebhookEndpoint) =>
  ask("DELETE", `/webhooks/endpoints/${id}`, undefined, 204);
const newTask = (more: object = {}) =>
  ask<Task>("POST", "/tasks", { input: missing, kind: "audio", ...more }, 201);

async function failedTask(more: object = {}): Promise<Task> {
  const task = await rig.finished((await newTask(more)).id);
  expect(task.status).toBe("failed");
  return task;
}

// Returns the events that arrived at a path, each once, as soon as there are `count`.
const arrived = (path: string, count: number): Promise<Received[]> =>
  rig.until(
    async () => [...new Map(receiver.requests(path).map((each) => [each.event.id, each])).values()],
    (got) => got.length >= count,
  );

async function deliveryTo(
  path: string,
  holds: (delivery: WebhookDelivery) => boolean,
): Promise<WebhookDelivery> {
  const delivery = await rig.until(
    async () =>
      (await ask<WebhookDelivery[]>("GET", "/webhooks/deliveries?limit=100")).find(({ url }) =>
        url.endsWith(path),
      ),
    (delivery) => delivery !== undefined && holds(delivery),
  );
  return delivery as WebhookDelivery;
}

const isOver = ({ status }: WebhookDelivery) => status !== "pending";

test("notifies an endpoint only of its topics, with signatures that the Standard Webhooks library verifies", async () => {
  const all = await addEndpoint(receiver.serve("/all"));
  const ends = await addEndpoint(receiver.serve("/ends"), [
    "task.failed",
    "task.succeeded",
    "step.succeeded",
  ]);
  const theirs = await addEndpoint(receiver.serve("/theirs"), undefined, "key-of-beta");
  const input = origin.serve("/sound.wav", { file: await clip("wav") });
  const good = await rig.finished((await newTask({ input, options: { format: "wav" } })).id);
  const bad = await failedTask();
  const step = await ask<Step>("POST", "/steps", { kind: "probe", input: { url: input } }, 201);
  const probed = await rig.finishedStep(step.id);

  const received = await arrived("/all", 9);
  const kinds = (id: string) =>
    received.filter(({ event }) => event.data.id === id).map(({ event }) => event.kind);
  expect(kinds(good.id).toSorted()).toEqual(["task.created", "task.succeeded", "task.updated"]);
  expect(kinds(bad.id).toSorted()).toEqual(["task.created", "task.failed", "task.updated"]);
  expect(kinds(step.id).toSorted()).toEqual(["step.created", "step.succeeded", "step.updated"]);
  for (const { headers, body, event } of received) {
    expect(new Webhook(all.secret).verify(body, headers)).toEqual(event);
    expect(() => new Webhook(ends.secret).verify(body, headers)).toThrow("No matching signature found");
    expect(() => new Webhook(all.secret).verify(`${body} `, headers)).toThrow("No matching signature found");
    expect([headers["webhook-id"], headers["content-type"]]).toEqual([event.id, "application/json"]);
  }
  const succeeded = received.find(({ event }) => event.kind === "task.succeeded")?.event;
  expect(succeeded).toEqual({
    id: expect.stringMatching(/^evt_[0-9a-z]{26}$/),
    object: "event",
    kind: "task.succeeded",
    data: good,
    created_at: good.updated_at,
  });
  const few = await arrived("/ends", 3);
  expect(few.map(({ event }) => event.data).toSorted((a, b) => a.created_at - b.created_at)).toEqual([
    good,
    bad,
    probed,
  ]);

  const events = await ask<WebhookEvent[]>("GET", "/events?limit=100&order=asc");
  expect(events.map(({ id }) => id)).toEqual(received.map(({ event }) => event.id).toSorted());
  expect(events.map(({ kind }) => kind).slice(0, 3)).toEqual([
    "task.created",
    "task.updated",
    "task.succeeded",
  ]);
  expect(await ask("GET", `/events/${succeeded?.id}`)).toEqual(succeeded);
  const failures = await ask<WebhookEvent[]>("GET", "/events?kind=task.failed");
  expect(failures.map(({ data }) => data)).toEqual([bad]);
  const page = await ask<WebhookEvent[]>("GET", `/events?limit=2&order=asc&after=${events[1]?.id}`);
  expect(page).toEqual(events.slice(2, 4));

  // Another project receives, sees and changes nothing.
  expect(receiver.requests("/theirs")).toEqual([]);
  const key = "key-of-beta";
  for (const list of ["/events", "/webhooks/deliveries"])
    expect(await ask("GET", list, undefined, 200, key)).toEqual([]);
  const { id } = await deliveryTo("/all", isOver);
  for (const [method, path, body] of [
    ["GET", `/events/${succeeded?.id}`],
    ["GET", `/webhooks/deliveries/${id}`],
    ["POST", `/webhooks/deliveries/${id}/replay`],
    ["GET", `/webhooks/endpoints/${all.id}`],
    ["PATCH", `/webhooks/endpoints/${all.id}`, { status: "disabled" }],
    ["POST", `/webhooks/endpoints/${all.id}/rotate`, {}],
    ["DELETE", `/webhooks/endpoints/${all.id}`],
  ] as const) {
    await ask(method, path, body, 404, key);
  }
  const { secret: _, ...shown } = all;
  expect(await ask("GET", `/webhooks/endpoints/${all.id}`)).toEqual(shown);
  await Promise.all([all, ends].map(removeEndpoint));
  await ask("DELETE", `/webhooks/endpoints/${theirs.id}`, undefined, 204, key);
});

test("sends nothing more to an endpoint that answers 410 until it is enabled again", async () => {
  const endpoint = await addEndpoint(
    receiver.serve("/gone", (request) => (request === 0 ? 410 : 200)),
    ["task.failed"],
  );
  await failedTask();
  const delivery = await deliveryTo("/gone", isOver);
  expect(delivery).toMatchObject({ status: "failed", error: "It answered 410: it wants no more events." });
  const path = `/webhooks/endpoints/${endpoint.id}`;
  expect((await ask<WebhookEndpoint>("GET", path)).status).toBe("disabled");
  await failedTask();
  const refused = await rig.call(`/webhooks/deliveries/${delivery.id}/replay`, { method: "POST" });
  expect([refused.status, refused.json.kind]).toEqual([409, "endpoint_disabled"]);
  expect((await ask<WebhookEndpoint>("PATCH", path, { status: "active" })).status).toBe("active");
  const replay = await ask<WebhookDelivery>("POST", `/webhooks/deliveries/${delivery.id}/replay`);
  expect([replay.id, replay.status]).toEqual([delivery.id, "pending"]);
  const replayed = await deliveryTo("/gone", isOver);
  expect([replayed.id, replayed.status, replayed.attempts.length]).toEqual([delivery.id, "succeeded", 2]);
  expect(receiver.requests("/gone").map(({ headers }) => headers["webhook-id"])).toEqual([
    delivery.event_id,
    delivery.event_id,
  ]);
  await removeEndpoint(endpoint);
  const gone = await rig.call(`/webhooks/deliveries/${delivery.id}/replay`, { method: "POST" });
  expect([gone.status, gone.json.kind]).toEqual([404, "endpoint_not_found"]);
});

test("the current and the previous secret both sign until the previous one is dropped", async () => {
  const endpoint = await addEndpoint(receiver.serve("/secrets"), ["task.failed"]);
  const rotate = (body: object) =>
    ask<WebhookSecret>("POST", `/webhooks/endpoints/${endpoint.id}/rotate`, body);
  const second = await rotate({});
  expect(second).toMatchObject({ object: "webhook_secret", endpoint_id: endpoint.id });
  expect((second.previous_until ?? 0) - second.created_at).toBe(86_400_000);
  await failedTask();
  const [first] = await arrived("/secrets", 1);
  expect(first?.headers["webhook-signature"]?.split(" ")).toHaveLength(2);
  for (const { secret } of [endpoint, second])
    new Webhook(secret).verify(first?.body ?? "", first?.headers ?? {});
  const third = await rotate({ keep_seconds: 0 });
  expect(third.previous_until).toBeNull();
  await failedTask();
  const [, last] = await arrived("/secrets", 2);
  expect(last?.headers["webhook-signature"]?.split(" ")).toHaveLength(1);
  new Webhook(third.secret).verify(last?.body ?? "", last?.headers ?? {});
  await removeEndpoint(endpoint);
});

test("posts to the webhook URL of a task or step too, signed with the project's secret, and again for a retry", async () => {
  const { secret } = await ask<WebhookSecret>("POST", "/webhooks/secret/rotate", {});
  const webhook_url = receiver.serve("/own?token=mine");
  const task = await failedTask({ webhook_url });
  expect(task).not.toHaveProperty("webhook_url");
  const step = await ask<Step>(
    "POST",
    "/steps",
    { kind: "probe", input: { url: missing }, webhook_url },
    201,
  );
  const retry = await ask<Task>("POST", `/tasks/${task.id}/retry`, undefined, 201);
  const got = await arrived("/own?token=mine", 9);
  const ids = Map.groupBy(got, ({ event }) => event.data.id);
  expect([...ids].map(([id, { length }]) => [id, length]).toSorted()).toEqual(
    [task.id, step.id, retry.id].map((id) => [id, 3]).toSorted(),
  );
  for (const { body, headers } of got) new Webhook(secret).verify(body, headers);
  const { endpoint_id, url } = await deliveryTo("/own?token=mine", isOver);
  expect([endpoint_id, url]).toEqual([null, webhook_url]);
});

test("delivers the webhooks of a task deleted before they arrived, then forgets them", async () => {
  let open = false;
  const webhook_url = receiver.serve("/deleted", () => (open ? 200 : 503));
  const { id } = await failedTask({ webhook_url });
  await ask("DELETE", `/tasks/${id}`, undefined, 204);
  open = true;
  const kinds = () => receiver.requests("/deleted").map(({ event }) => event.kind);
  await rig.until(
    async () => ask<WebhookDelivery[]>("GET", "/webhooks/deliveries?limit=100"),
    (deliveries) => deliveries.every(({ url }) => url !== webhook_url),
  );
  expect([...new Set(kinds())].toSorted()).toEqual(["task.created", "task.failed", "task.updated"]);
  const events = await ask<WebhookEvent[]>("GET", "/events?limit=100");
  expect(events.filter(({ data }) => data.id === id)).toEqual([]);
  await ask("GET", `/tasks/${id}`, undefined, 404);
});

test("a delivery survives the eviction of its object", async () => {
  const webhook_url = receiver.serve("/evicted", (request) => (request < 3 ? 500 : 200));
  const { id } = await failedTask({ webhook_url });
  await arrived("/evicted", 1);
  await rig.worker().evictDurableObject("TASK", { name: id });
  await rig.until(
    async () => ask<WebhookDelivery[]>("GET", "/webhooks/deliveries?limit=100&status=succeeded"),
    (deliveries) => deliveries.filter(({ url }) => url === webhook_url).length === 3,
  );
});

test("shows no secret in responses or in the log", async () => {
  const endpoint = await addEndpoint(
    receiver.serve("/hidden", () => 500),
    ["task.failed"],
  );
  await failedTask();
  await deliveryTo("/hidden", ({ attempts }) => attempts.length > 0);
  const shown = await Promise.all(
    ["/webhooks/endpoints", `/webhooks/endpoints/${endpoint.id}`, "/webhooks/deliveries", "/events"].map(
      (path) => ask("GET", path),
    ),
  );
  const secret = endpoint.secret.slice("whsec_".length);
  expect(JSON.stringify(shown)).not.toContain(secret);
  expect(JSON.stringify(shown)).not.toContain("whsec_");
  expect(JSON.stringify(rig.server.getLogs())).not.toContain("whsec_");
  await removeEndpoint(endpoint);
});
