import { afterAll, beforeAll, expect, test } from "vitest";
import { createIds } from "../../../src/runs/ids.ts";
import type { WebhookDelivery } from "../../../src/runs/webhook-events.ts";
import { createOutside } from "../../../worker/network/outside.ts";
import { postEvent } from "../../../worker/webhooks/delivery.ts";
import { createOutbox, createWebhookSender } from "../../../worker/webhooks/outbox.ts";
import { createWebhookQueue } from "../../../worker/webhooks/webhook-queue.ts";
import { createMemorySql } from "../api/memory-connections.ts";
import { type Answer, type Receiver, startReceiver } from "./receiver.ts";

const SECRETS = [`whsec_${btoa("a secret of the tests")}`];
const { fetch } = createOutside({ allowPrivate: true });
const HOUR_MS = 3_600_000;

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

/** A run with webhooks over real HTTP, a clock that a test moves, and storage that survives a crash. */
function createRun(path: string, take: (request: number, now: number) => Answer) {
  const start = Date.now();
  const queue = createWebhookQueue(createMemorySql(), createIds(Math.random), 7 * 24 * HOUR_MS);
  const sql = createMemorySql();
  let time = start;
  const url = receiver.serve(path, (request) => take(request, time - start));

  /** Starts from the stored state; the first `faults` outcomes sent to the project fail. */
  function boot(faults = 0) {
    let left = faults;
    const outbox = createOutbox(sql);
    let idle = Promise.withResolvers<void>();
    const sender = createWebhookSender({
      outbox,
      now: () => time,
      random: () => 0.5,
      firstMs: () => 5000,
      leaseMs: () => 15_000,
      requestOf: async ({ id }) => queue.ship(id, time),
      post: (_, request) =>
        postEvent({ ...request, secrets: SECRETS }, { fetch, now: () => time, timeout_ms: 10_000 }),
      async note({ id }, outcome) {
        if (left-- > 0) throw new Error("The project's object is away.");
        queue.note(id, outcome);
      },
      async rearm() {
        idle.resolve();
        idle = Promise.withResolvers();
      },
    });
    return {
      outbox,
      sender,
      /** Hands the changes over; resolves once a delivery that follows is done, or at once when none follows. */
      async handOver() {
        const set = { run_id: "task_1", changes: outbox.changes(), webhook_url: url };
        const deliveries = queue.post(set, time);
        outbox.handedOver(set.changes.at(-1)?.version ?? 0, "project", deliveries, time);
        const { promise } = idle;
        sender.start(deliveries);
        if (sender.dueAt() !== null) await promise;
      },
      /** Moves the clock to the next due delivery and waits until it is done; false if none is due. */
      async next(): Promise<boolean> {
        const due = sender.dueAt();
        if (due === null) return false;
        time = Math.max(time, due);
        const { promise } = idle;
        sender.start();
        await promise;
        return true;
      },
    };
  }
  return {
    boot,
    hours: () => (time - start) / HOUR_MS,
    delivery: (): WebhookDelivery | undefined =>
      queue.deliveries({ limit: 1, order: "desc" }, time).records[0],
  };
}

const CHANGE = { version: 1, kind: "task.failed", at: 1, record: "{}" } as const;

test("delivers to a receiver that is back within three days, and nothing more is due", async () => {
  const run = createRun("/back", (_, passed) => (passed < 71.9 * HOUR_MS ? 503 : 200));
  const object = run.boot();
  object.outbox.add(CHANGE);
  await object.handOver();
  while (await object.next());
  expect(run.delivery()).toMatchObject({ status: "succeeded", error: null, next_attempt_at: null });
  expect(run.delivery()?.attempts).toHaveLength(14);
  expect(run.hours()).toBe(72);
  expect(receiver.requests("/back")).toHaveLength(14);
});

test("gives up on a receiver that fails for three days", async () => {
  const run = createRun("/never", () => 500);
  const object = run.boot();
  object.outbox.add(CHANGE);
  await object.handOver();
  while (await object.next());
  expect(run.delivery()).toMatchObject({
    status: "failed",
    error: "It answered 500.",
    next_attempt_at: null,
  });
  expect(run.hours()).toBe(72);
});

test("an event stored but not handed over before a crash is handed over after it, and delivered once", async () => {
  const run = createRun("/crash", () => 200);
  run.boot().outbox.add(CHANGE);
  const after = run.boot();
  expect(after.outbox.changes()).toEqual([CHANGE]);
  await after.handOver();
  expect(receiver.requests("/crash")).toHaveLength(1);
  // A crash before the event is removed hands it over again.
  const restarted = run.boot();
  restarted.outbox.add(CHANGE);
  await restarted.handOver();
  while (await restarted.next());
  expect(receiver.requests("/crash")).toHaveLength(1);
  // The next event arrives, and nothing in between.
  restarted.outbox.add({ ...CHANGE, version: 2 });
  await restarted.handOver();
  while (await restarted.next());
  const ids = receiver.requests("/crash").map(({ headers }) => headers["webhook-id"]);
  expect([ids.length, new Set(ids).size]).toEqual([2, 2]);
});

test("a delivery in progress when the object dies is made again by the next one", async () => {
  const run = createRun("/died", (request) => (request === 0 ? "hang" : 200));
  const before = run.boot();
  before.outbox.add(CHANGE);
  void before.handOver();
  await expect.poll(() => receiver.requests("/died").length).toBe(1);
  const after = run.boot();
  expect(await after.next()).toBe(true);
  expect(run.delivery()?.status).toBe("succeeded");
  expect(new Set(receiver.requests("/died").map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(after.sender.dueAt()).toBeNull();
});

test("an outcome that the project could not record keeps its next attempt, or the delivery is repeated", async () => {
  const run = createRun("/away", (request) => (request === 0 ? 500 : 200));
  const object = run.boot(2);
  object.outbox.add(CHANGE);
  await object.handOver();
  expect(run.delivery()?.attempts).toEqual([]);
  expect((object.sender.dueAt() ?? 0) - (run.delivery()?.created_at ?? 0)).toBeGreaterThanOrEqual(5000);
  while (await object.next());
  expect(run.delivery()?.status).toBe("succeeded");
  expect(receiver.requests("/away")).toHaveLength(3);
});
