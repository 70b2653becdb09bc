import { createIds } from "../../../src/core/ids.ts";
import { createSeal } from "../../../worker/connections/seal.ts";
import { createPostOffice, type PostOffice } from "../../../worker/webhooks/post-office.ts";
import { createWebhooks, type WebhookHome, type Webhooks } from "../../../worker/webhooks/webhooks.ts";
import { createMemorySql } from "./memory-connections.ts";

const WEEK_MS = 604_800_000;

/** Keeps webhooks as the service does, each project's in an SQLite of its own in memory; nothing is delivered. */
export function createMemoryWebhooks(): Webhooks {
  const offices = new Map<string, PostOffice>();
  const officeOf = (project: string) => {
    const office = offices.get(project) ?? createMemoryPostOffice();
    offices.set(project, office);
    return office;
  };
  return createWebhooks(
    (project) => createMemoryHome(officeOf(project)),
    createSeal(["a secret of the tests"]),
    async (_, project, id) => officeOf(project).replay(id, Date.now()),
    Date.now,
  );
}

/** Builds the post office of a project over an SQLite in memory. */
export function createMemoryPostOffice(): PostOffice {
  return createPostOffice(createMemorySql(), createIds(Math.random), WEEK_MS);
}

/** Makes a post office answer as a ProjectObject does. */
export function createMemoryHome(office: PostOffice, now = Date.now): WebhookHome {
  const { endpoints, secrets } = office;
  return {
    async addEndpoint(endpoint, sealed) {
      const added = endpoints.add(endpoint);
      if (added) secrets.first(added.id, sealed, now());
      return added;
    },
    getEndpoint: async (id) => endpoints.get(id),
    listEndpoints: async (query) => endpoints.list(query),
    changeEndpoint: async (id, change) => endpoints.change(id, change, now()),
    async removeEndpoint(id) {
      secrets.remove(id);
      return endpoints.remove(id);
    },
    hasSecret: async (owner) => secrets.of(owner, now()).length > 0,
    firstSecret: async (owner, sealed) => secrets.first(owner, sealed, now()),
    rotateSecret: async (owner, sealed, keep_until) => ({
      had: secrets.rotate(owner, sealed, keep_until, now()),
    }),
    listSecrets: async () => secrets.all(),
    resealSecret: async (owner, before, after) => secrets.reseal(owner, before, after),
    getEvent: async (id) => office.event(id, now()),
    listEvents: async (query) => office.events(query, now()),
    getDelivery: async (id) => office.delivery(id, now()),
    listDeliveries: async (query) => office.deliveries(query, now()),
  };
}
