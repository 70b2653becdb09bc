import {
  NewWebhookEndpoint,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEvent,
  WebhookSecret,
} from "../../core/webhook.ts";
import type { Call } from "./http.ts";
import type { Webhooks } from "./remote-client.ts";
import { createRecords } from "./rest.ts";

/** Creates the part of a client that manages endpoints and reads events and deliveries. */
export function createRemoteWebhooks(call: Call): Webhooks {
  const endpoints = createRecords(call, "endpoint", WebhookEndpoint);
  const deliveries = createRecords(call, "delivery", WebhookDelivery);
  const events = createRecords(call, "event", WebhookEvent);
  return {
    endpoints: {
      create: (request) => endpoints.create(request, NewWebhookEndpoint),
      get: endpoints.get,
      list: endpoints.list,
      each: endpoints.each,
      update: endpoints.update,
      rotate: (id, body = {}) => endpoints.act(id, "rotate", { body }, WebhookSecret),
      delete: endpoints.delete,
    },
    deliveries: {
      get: deliveries.get,
      list: deliveries.list,
      each: deliveries.each,
      replay: (id) => deliveries.act(id, "replay"),
    },
    events: { get: events.get, list: events.list, each: events.each },
    async rotateSecret(body = {}) {
      return (await call({ method: "POST", path: "/webhooks/secret/rotate", body }, WebhookSecret)).value;
    },
  };
}
