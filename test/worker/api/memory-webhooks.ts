import { createIds } from "../../../src/runs/ids.ts";
import { createSeal } from "../../../worker/connections/seal.ts";
import { createWebhookQueue, type WebhookQueue } from "../../../worker/webhooks/webhook-queue.ts";
import { createWebhooks, type WebhookHome, type Webhooks } from "../../../worker/webhooks/webhooks.ts";
import { asRemote } from "./as-remote.ts";
import { createMemorySql } from "./memory-connections.ts";

const WEEK_MS = 604_800_000;

/** Webhooks as in the service, with an in-memory SQLite per project; delivers nothing. */
export function createMemoryWebhooks(): Webhooks {
  const queues = new Map<string, WebhookQueue>();
  const queueOf = (project: string) => {
    const queue = queues.get(project) ?? createMemoryWebhookQueue();
    queues.set(project, queue);
    return queue;
  };
  return createWebhooks(
    (project) => createMemoryHome(queueOf(project)),
    createSeal(["a secret of the tests"]),
    async (_, project, id) => queueOf(project).replay(id, Date.now()),
    Date.now,
  );
}

export function createMemoryWebhookQueue(): WebhookQueue {
  return createWebhookQueue(createMemorySql(), createIds(Math.random), WEEK_MS);
}

/** Gives a webhook queue the interface of a ProjectObject. */
export function createMemoryHome({ endpoints, secrets, ...mail }: WebhookQueue): WebhookHome {
  return { endpoints: asRemote(endpoints), secrets: asRemote(secrets), mail: asRemote(mail) };
}
