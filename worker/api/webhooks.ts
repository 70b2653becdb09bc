import {
  createEndpoint,
  DELIVERY_STATUSES,
  ENDPOINT_STATUSES,
  EVENT_KINDS,
  NewWebhookEndpoint,
  parseEndpointChange,
  parseEndpointRequest,
  parseRotateRequest,
  RotateRequest,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRequest,
  WebhookEvent,
  WebhookSecret,
} from "../../src/runs/webhook-events.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, idInPath, serve } from "../http/context.ts";
import type { Services } from "../services.ts";
import { creationHandler } from "./creation.ts";
import { answerList, listParameters, readListQuery } from "./lists.ts";
import { checkWebhookUrl } from "./new-run.ts";
import { idParameter, operation } from "./openapi.ts";
import { SUCCEEDED_TASK } from "./tasks.ts";

const NOW = 1_795_167_000_000;

const ENDPOINT_REQUESTS: Record<string, WebhookEndpointRequest> = {
  ends: { url: "https://example.com/hooks", topics: ["task.succeeded", "task.failed", "task.cancelled"] },
  everything: { url: "https://example.com/hooks" },
};

const ENDPOINT_CHANGES: Record<string, WebhookEndpointChange> = {
  another_url: { url: "https://example.com/media/hooks" },
  other_topics: { topics: ["*"] },
  enable: { status: "active" },
};

const ENDPOINT: WebhookEndpoint = {
  id: "we_01kaggm8q0fzr2n5v3x7c1d9jb",
  object: "webhook_endpoint",
  url: "https://example.com/hooks",
  topics: ["task.succeeded", "task.failed", "task.cancelled"],
  status: "active",
  created_at: NOW,
  updated_at: NOW,
};

const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfUh8r2JFk=";

const NEW_ENDPOINT: NewWebhookEndpoint = { ...ENDPOINT, secret };

const ROTATE_REQUESTS: Record<string, RotateRequest> = {
  day: {},
  at_once: { keep_seconds: 0 },
};

const ENDPOINT_SECRET: WebhookSecret = {
  object: "webhook_secret",
  endpoint_id: ENDPOINT.id,
  secret,
  previous_until: NOW + 86_400_000,
  created_at: NOW,
};

const PROJECT_SECRET: WebhookSecret = { ...ENDPOINT_SECRET, endpoint_id: null, previous_until: null };

/** The example of an event. */
export const EVENT: WebhookEvent = {
  id: "evt_01kaggm8q0fzr2n5v3x7c1d9jb",
  object: "event",
  kind: "task.succeeded",
  data: SUCCEEDED_TASK,
  created_at: SUCCEEDED_TASK.updated_at,
};

const DELIVERY: WebhookDelivery = {
  id: "dlv_01kaggm8q0fzr2n5v3x7c1d9jb",
  object: "webhook_delivery",
  kind: EVENT.kind,
  event_id: EVENT.id,
  endpoint_id: ENDPOINT.id,
  url: ENDPOINT.url,
  status: "succeeded",
  error: null,
  attempts: [
    { at: NOW, duration: 84, response_status: 500, error: "It answered 500." },
    { at: NOW + 5412, duration: 61, response_status: 200, error: null },
  ],
  next_attempt_at: null,
  created_at: NOW,
  finished_at: NOW + 5473,
};

const REPLAYED_DELIVERY: WebhookDelivery = {
  ...DELIVERY,
  status: "pending",
  next_attempt_at: NOW + 60_000,
  finished_at: null,
};

const tag = "Webhooks";
const endpointId = idParameter("endpoint", ENDPOINT.id);
const deliveryId = idParameter("delivery", DELIVERY.id);
const answer = { description: "The endpoint, without its secret.", schema: WebhookEndpoint };
const headers = ["Link", "Has-More"];

/** Adds the routes of webhooks: endpoints, their secrets, deliveries, and the events that these deliver. */
export function addWebhookRoutes(app: Api, services: Services): void {
  addEndpointRoutes(app, services);
  addSecretRoute(app, services);
  addDeliveryRoutes(app, services);
  addEventRoutes(app, services);
}

function addEndpointRoutes(app: Api, services: Services): void {
  const { webhooks, settings, seal, now } = services;

  serve(
    app,
    operation({
      method: "post",
      path: "/webhooks/endpoints",
      operationId: "createWebhookEndpoint",
      creates: true,
      tag,
      summary: "Add an endpoint",
      description:
        "Posts the project's events to a URL, signed as by [Standard Webhooks](https://www.standardwebhooks.com). Only this response contains the secret. Events are posted at least once, in no particular order, and retried with growing delays for three days until the response is 200 to 299 within 10 seconds. Redirects are not followed, and 410 disables the endpoint. The header `webhook-id` identifies an event that arrives twice.",
      body: { schema: WebhookEndpointRequest, examples: ENDPOINT_REQUESTS },
      answers: {
        201: {
          description: "The endpoint with its secret.",
          schema: NewWebhookEndpoint,
          examples: { made: NEW_ENDPOINT },
        },
      },
      errors: ["request_invalid", "payload_too_large"],
    }),
    creationHandler<NewWebhookEndpoint>(services, {
      sort: "endpoint",
      seal,
      async create(request, c, id) {
        const fields = parseEndpointRequest(await readJson(request));
        await checkWebhookUrl(fields.url, "url", services);
        const endpoint = createEndpoint(fields, () => id, now());
        return webhooks.create(c.get("project"), endpoint);
      },
      // The secret was lost with the first response, so a repeated request replaces the endpoint.
      find: async () => null,
    }),
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/webhooks/endpoints",
      operationId: "listWebhookEndpoints",
      tag,
      summary: "List endpoints",
      description: "Returns the project's endpoints, newest first.",
      parameters: listParameters("endpoint", ENDPOINT_STATUSES, null, ENDPOINT.id),
      answers: {
        200: {
          description: "A page of endpoints.",
          schema: WebhookEndpoint,
          many: true,
          headers,
          examples: { page: [ENDPOINT], empty: [] },
        },
      },
      errors: ["request_invalid"],
    }),
    async (c) => {
      const query = readListQuery(c.req.url, "endpoint");
      return answerList(c, baseUrl(c, settings), query, await webhooks.list(c.get("project"), query));
    },
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/webhooks/endpoints/{id}",
      operationId: "getWebhookEndpoint",
      tag,
      summary: "Get an endpoint",
      parameters: endpointId,
      answers: { 200: { ...answer, examples: { stored: ENDPOINT } } },
      errors: ["endpoint_not_found"],
    }),
    async (c) => {
      const endpoint = await webhooks.get(c.get("project"), idInPath(c, "endpoint"));
      if (!endpoint) throw errors.notFound("endpoint");
      return c.json(endpoint);
    },
  );

  serve(
    app,
    operation({
      method: "patch",
      path: "/webhooks/endpoints/{id}",
      operationId: "changeWebhookEndpoint",
      tag,
      summary: "Change an endpoint",
      description:
        "Changes the fields that the body names. Pending deliveries go to the new URL. Events that a disabled endpoint missed are in `GET /events`, and are not delivered later.",
      parameters: endpointId,
      body: { schema: WebhookEndpointChange, examples: ENDPOINT_CHANGES },
      answers: { 200: { ...answer, examples: { stored: ENDPOINT } } },
      errors: ["request_invalid", "endpoint_not_found", "payload_too_large"],
    }),
    async (c) => {
      const change = parseEndpointChange(await readJson(c.req.raw));
      if (change.url !== undefined) await checkWebhookUrl(change.url, "url", services);
      return c.json(await webhooks.change(c.get("project"), idInPath(c, "endpoint"), change));
    },
  );

  serve(
    app,
    operation({
      method: "post",
      path: "/webhooks/endpoints/{id}/rotate",
      operationId: "rotateEndpointSecret",
      tag,
      summary: "Rotate an endpoint's secret",
      description:
        "Replaces the secret; only this response contains the new one. The previous one stays valid for a day, or as long as the body says, during which every post carries a signature by each.",
      parameters: endpointId,
      body: { schema: RotateRequest, examples: ROTATE_REQUESTS },
      answers: {
        200: {
          description: "The new secret.",
          schema: WebhookSecret,
          examples: { changed: ENDPOINT_SECRET },
        },
      },
      errors: ["request_invalid", "endpoint_not_found", "payload_too_large"],
    }),
    async (c) => {
      const { keep_seconds } = parseRotateRequest(await readJson(c.req.raw));
      return c.json(await webhooks.rotate(c.get("project"), idInPath(c, "endpoint"), keep_seconds));
    },
  );

  serve(
    app,
    operation({
      method: "delete",
      path: "/webhooks/endpoints/{id}",
      operationId: "deleteWebhookEndpoint",
      tag,
      summary: "Delete an endpoint",
      description: "Removes an endpoint and its secret. Its pending deliveries fail.",
      parameters: endpointId,
      answers: { 204: { description: "The endpoint is gone." } },
      errors: ["endpoint_not_found"],
    }),
    async (c) => {
      await webhooks.remove(c.get("project"), idInPath(c, "endpoint"));
      return c.body(null, 204);
    },
  );
}

function addSecretRoute(app: Api, { webhooks }: Services): void {
  serve(
    app,
    operation({
      method: "post",
      path: "/webhooks/secret/rotate",
      operationId: "rotateWebhookSecret",
      tag,
      summary: "Rotate the project's secret",
      description:
        "Replaces the secret that signs posts to the `webhook_url` of tasks and steps; only this response contains the new one. The previous one stays valid for a day, or as long as the body says. Before the first rotation, posts are signed by a secret that was never shown.",
      body: { schema: RotateRequest, examples: ROTATE_REQUESTS },
      answers: {
        200: { description: "The new secret.", schema: WebhookSecret, examples: { made: PROJECT_SECRET } },
      },
      errors: ["request_invalid", "payload_too_large"],
    }),
    async (c) => {
      const { keep_seconds } = parseRotateRequest(await readJson(c.req.raw));
      return c.json(await webhooks.rotate(c.get("project"), null, keep_seconds));
    },
  );
}

function addDeliveryRoutes(app: Api, { webhooks, settings }: Services): void {
  serve(
    app,
    operation({
      method: "get",
      path: "/webhooks/deliveries",
      operationId: "listWebhookDeliveries",
      tag,
      summary: "List deliveries",
      description: "Returns deliveries, newest first, pending ones included. They are kept for seven days.",
      parameters: listParameters("delivery", DELIVERY_STATUSES, EVENT_KINDS, DELIVERY.id),
      answers: {
        200: {
          description: "A page of deliveries.",
          schema: WebhookDelivery,
          many: true,
          headers,
          examples: { page: [DELIVERY], empty: [] },
        },
      },
      errors: ["request_invalid", "invalid_kind"],
    }),
    async (c) => {
      const query = readListQuery(c.req.url, "delivery");
      return answerList(c, baseUrl(c, settings), query, await webhooks.deliveries(c.get("project"), query));
    },
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/webhooks/deliveries/{id}",
      operationId: "getWebhookDelivery",
      tag,
      summary: "Get a delivery",
      parameters: deliveryId,
      answers: {
        200: { description: "The delivery.", schema: WebhookDelivery, examples: { taken: DELIVERY } },
      },
      errors: ["delivery_not_found"],
    }),
    async (c) => {
      const delivery = await webhooks.delivery(c.get("project"), idInPath(c, "delivery"));
      if (!delivery) throw errors.notFound("delivery");
      return c.json(delivery);
    },
  );

  serve(
    app,
    operation({
      method: "post",
      path: "/webhooks/deliveries/{id}/replay",
      operationId: "replayWebhookDelivery",
      tag,
      summary: "Deliver again",
      description:
        "Posts the event again immediately, whatever the delivery's status, and retries for three days.",
      parameters: deliveryId,
      answers: {
        200: {
          description: "The delivery, pending.",
          schema: WebhookDelivery,
          examples: { pending: REPLAYED_DELIVERY },
        },
      },
      errors: ["delivery_not_found", "endpoint_not_found", "endpoint_disabled"],
    }),
    async (c) => {
      return c.json(await webhooks.replay(c.get("project"), idInPath(c, "delivery")));
    },
  );
}

function addEventRoutes(app: Api, { webhooks, settings }: Services): void {
  serve(
    app,
    operation({
      method: "get",
      path: "/events",
      operationId: "listEvents",
      tag,
      summary: "List events",
      description:
        "Returns every event of the project, newest first, whether or not an endpoint receives it. Reading on with `order=asc` and `after` misses none. Events are kept for seven days, those of deleted tasks included.",
      parameters: listParameters("event", null, EVENT_KINDS, EVENT.id),
      answers: {
        200: {
          description: "A page of events.",
          schema: WebhookEvent,
          many: true,
          headers,
          examples: { page: [EVENT], empty: [] },
        },
      },
      errors: ["request_invalid", "invalid_kind"],
    }),
    async (c) => {
      const query = readListQuery(c.req.url, "event");
      return answerList(c, baseUrl(c, settings), query, await webhooks.events(c.get("project"), query));
    },
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/events/{id}",
      operationId: "getEvent",
      tag,
      summary: "Get an event",
      parameters: idParameter("event", EVENT.id),
      answers: { 200: { description: "The event.", schema: WebhookEvent, examples: { kept: EVENT } } },
      errors: ["event_not_found"],
    }),
    async (c) => {
      const event = await webhooks.event(c.get("project"), idInPath(c, "event"));
      if (!event) throw errors.notFound("event");
      return c.json(event);
    },
  );
}
