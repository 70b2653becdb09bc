import { beforeEach, expect, test } from "vitest";
import { createIds } from "../../../src/runs/ids.ts";
import {
  createEndpoint,
  type DeliveryAttempt,
  type EventKind,
  type Topic,
} from "../../../src/runs/webhook-events.ts";
import type { ChangeSet } from "../../../worker/webhooks/delivery.ts";
import { createWebhookQueue, type WebhookQueue } from "../../../worker/webhooks/webhook-queue.ts";
import { createMemorySql } from "../api/memory-connections.ts";

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
const ids = createIds(Math.random);
const LIST = { limit: 100, order: "asc" } as const;

let queue: WebhookQueue;
beforeEach(() => {
  queue = createWebhookQueue(createMemorySql(), ids, 7 * DAY_MS);
});

const changes = (
  run_id: string,
  versions: readonly number[],
  webhook_url: string | null = null,
): ChangeSet => ({
  run_id,
  webhook_url,
  changes: versions.map((version) => ({
    version,
    at: NOW,
    record: JSON.stringify({ id: run_id, version }),
    kind: "task.updated" satisfies EventKind,
  })),
});

function addEndpoint(topics?: Topic[]) {
  const endpoint = createEndpoint({ url: "https://example.com/hooks", ...(topics && { topics }) }, ids, NOW);
  queue.secrets.first(endpoint.id, `sealed of ${endpoint.id}`, NOW);
  return queue.endpoints.add(endpoint) ?? endpoint;
}

const attempt = (response_status: number): DeliveryAttempt => ({
  at: NOW,
  duration: 5,
  response_status,
  error: response_status === 200 ? null : `It answered ${response_status}.`,
});

test("a change creates one event and one delivery per subscriber, even if handed over repeatedly", () => {
  const { id } = addEndpoint();
  addEndpoint(["task.succeeded"]);
  const first = queue.post(changes("task_1", [1], "https://example.com/own"), NOW);
  expect(first.map(({ url, owner, sealed }) => [url, owner, sealed])).toEqual([
    ["https://example.com/hooks", id, [`sealed of ${id}`]],
    ["https://example.com/own", "webhook_url", []],
  ]);
  expect(queue.post(changes("task_1", [1, 2]), NOW + 5).slice(0, 2)).toEqual(first);
  expect(queue.events(LIST, NOW).records).toHaveLength(2);
  for (const delivery of first)
    queue.note(delivery.id, { attempt: attempt(200), verdict: "delivered", next_at: null });
  // A delivered event is not sent again.
  expect(queue.post(changes("task_1", [1]), NOW + 9)).toEqual([]);
  expect(queue.deliveries({ ...LIST, status: "succeeded" }, NOW).records).toHaveLength(2);
});

test("lists events in order of arrival, even if the clock is set back", () => {
  queue.post(changes("task_1", [1, 2, 3]), NOW);
  queue.post(changes("task_2", [1]), NOW - DAY_MS);
  const listed = queue.events(LIST, NOW).records.map((text) => JSON.parse(text));
  expect(listed.map(({ data }) => [data.id, data.version])).toEqual([
    ["task_1", 1],
    ["task_1", 2],
    ["task_1", 3],
    ["task_2", 1],
  ]);
  const after = queue.events({ ...LIST, after: listed[2].id }, NOW).records;
  expect(after.map((text) => JSON.parse(text).id)).toEqual([listed[3].id]);
});

test("pending deliveries to a disabled or deleted endpoint fail", () => {
  const [one, two] = [addEndpoint(), addEndpoint()];
  const [first, second] = queue.post(changes("task_1", [1]), NOW);
  queue.endpoints.change(one.id, { status: "disabled" }, NOW);
  queue.endpoints.remove(two.id);
  expect([first, second].map((each) => queue.ship(each?.id ?? "", NOW))).toEqual([null, null]);
  const { records } = queue.deliveries(LIST, NOW);
  expect(records.map(({ status, error, finished_at }) => [status, error, finished_at])).toEqual([
    ["failed", "The endpoint is disabled.", NOW],
    ["failed", "The endpoint was deleted.", NOW],
  ]);
  expect([first, second].map((each) => queue.replay(each?.id ?? "", NOW))).toEqual(["disabled", "endpoint"]);
  expect(queue.post(changes("task_1", [2]), NOW)).toEqual([]);
});

test("pending deliveries follow an endpoint to its new URL", () => {
  const { id } = addEndpoint();
  const [delivery] = queue.post(changes("task_1", [1]), NOW);
  queue.endpoints.change(id, { url: "https://example.org/new" }, NOW);
  expect(queue.ship(delivery?.id ?? "", NOW)).toEqual({ ...delivery, url: "https://example.org/new" });
});

test("keeps the latest attempts of a delivery, and a 410 disables its endpoint", () => {
  const { id } = addEndpoint();
  const [delivery] = queue.post(changes("task_1", [1]), NOW);
  for (let count = 1; count <= 25; count++)
    queue.note(delivery?.id ?? "", { attempt: attempt(400 + count), verdict: "again", next_at: NOW + count });
  const pending = queue.delivery(delivery?.id ?? "", NOW)?.delivery;
  expect(pending).toMatchObject({ status: "pending", error: "It answered 425.", next_attempt_at: NOW + 25 });
  expect(pending?.attempts.map(({ response_status }) => response_status)).toEqual(
    Array.from({ length: 20 }, (_, index) => 406 + index),
  );
  queue.note(delivery?.id ?? "", { attempt: attempt(410), verdict: "gone", next_at: null });
  expect(queue.delivery(delivery?.id ?? "", NOW)?.delivery).toMatchObject({
    status: "failed",
    finished_at: NOW + 5,
  });
  expect(queue.endpoints.get(id)?.status).toBe("disabled");
});

test("events and deliveries expire, including pending ones", () => {
  addEndpoint();
  const [delivery] = queue.post(changes("task_1", [1]), NOW);
  const event_id = delivery?.event_id ?? "";
  const last = NOW + 7 * DAY_MS;
  expect([queue.event(event_id, last) === null, queue.events(LIST, last).records.length]).toEqual([false, 1]);
  expect([queue.event(event_id, last + 1), queue.events(LIST, last + 1).records]).toEqual([null, []]);
  expect([queue.delivery(delivery?.id ?? "", last + 1), queue.deliveries(LIST, last + 1).records]).toEqual([
    null,
    [],
  ]);
  expect([queue.ship(delivery?.id ?? "", last + 1), queue.replay(delivery?.id ?? "", last + 1)]).toEqual([
    null,
    "delivery",
  ]);
});

test("pruning returns when there is next something to remove", () => {
  expect(queue.prune(NOW)).toBeNull();
  queue.post(changes("task_1", [1]), NOW);
  queue.post(changes("task_2", [1]), NOW + 5);
  expect(queue.prune(NOW + 9)).toBe(NOW + 7 * DAY_MS + 1);
  expect(queue.prune(NOW + 7 * DAY_MS + 1)).toBe(NOW + 7 * DAY_MS + 6);
  expect(queue.prune(NOW + 7 * DAY_MS + 6)).toBeNull();
});

test("secrets: newest first, older ones until they expire, a shorter time applies to all, at most four", () => {
  const { secrets } = queue;
  secrets.first("we_1", "a", NOW);
  secrets.first("we_1", "never", NOW);
  expect(secrets.rotate("we_1", "b", NOW + 1000, NOW)).toBe(true);
  expect([secrets.of("we_1", NOW + 999), secrets.of("we_1", NOW + 1000)]).toEqual([["b", "a"], ["b"]]);
  secrets.reseal("we_1", "b", "b, resealed");
  secrets.rotate("we_1", "c", NOW + 500, NOW);
  expect([secrets.of("we_1", NOW + 499), secrets.of("we_1", NOW + 500)]).toEqual([
    ["c", "b, resealed", "a"],
    ["c"],
  ]);
  secrets.rotate("we_1", "d", NOW, NOW);
  expect(secrets.of("we_1", NOW)).toEqual(["d"]);
  for (const each of ["e", "f", "g", "h", "i"]) secrets.rotate("we_1", each, NOW + 1000, NOW);
  expect(secrets.of("we_1", NOW)).toEqual(["i", "h", "g", "f"]);
  expect(secrets.rotate("we_2", "x", NOW + 1000, NOW)).toBe(false);
  expect(secrets.all().map(({ owner, sealed }) => owner + sealed)).toEqual([
    "we_1f",
    "we_1g",
    "we_1h",
    "we_1i",
    "we_2x",
  ]);
  secrets.remove("we_1");
  expect([secrets.of("we_1", NOW), secrets.of("we_2", NOW)]).toEqual([[], ["x"]]);
});
