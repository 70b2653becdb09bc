import { DELIVERY_STATUSES, ENDPOINT_STATUSES, EVENT_KINDS } from "../../src/core/webhook.ts";
import { operation } from "./operation.ts";
import { idParameter, listParameters } from "./parameters.ts";
import {
  DELIVERY,
  ENDPOINT,
  ENDPOINT_CHANGES,
  ENDPOINT_REQUESTS,
  ENDPOINT_SECRET,
  EVENT,
  NEW_ENDPOINT,
  PROJECT_SECRET,
  REPLAYED_DELIVERY,
  ROTATE_REQUESTS,
} from "./webhook-examples.ts";

const tag = "Webhooks";
const endpoint = idParameter("endpoint", ENDPOINT.id);
const delivery = idParameter("delivery", DELIVERY.id);
const answer = { description: "The endpoint, without its secret.", schema: "WebhookEndpoint" };
const headers = ["Link", "Has-More"];

/** `POST /webhooks/endpoints`. */
export const createWebhookEndpoint = operation({
  method: "post",
  path: "/webhooks/endpoints",
  operationId: "createWebhookEndpoint",
  creates: true,
  tag,
  summary: "Add an endpoint",
  description:
    "Posts the project's events to a URL, signed as by [Standard Webhooks](https://www.standardwebhooks.com). Only this response contains the secret. Events are posted at least once, in no particular order, and retried with growing delays for three days until the response is 200 to 299 within 10 seconds. Redirects are not followed, and 410 disables the endpoint. The header `webhook-id` identifies an event that arrives twice.",
  body: { schema: "WebhookEndpointRequest", examples: ENDPOINT_REQUESTS },
  answers: {
    201: {
      description: "The endpoint with its secret.",
      schema: "NewWebhookEndpoint",
      examples: { made: NEW_ENDPOINT },
    },
  },
  errors: ["request_invalid", "payload_too_large"],
});

/** `GET /webhooks/endpoints`. */
export const listWebhookEndpoints = operation({
  method: "get",
  path: "/webhooks/endpoints",
  operationId: "listWebhookEndpoints",
  tag,
  summary: "List endpoints",
  description: "Returns the project's endpoints, newest first.",
  parameters: listParameters("endpoint", ENDPOINT_STATUSES, null, ENDPOINT.id),
  answers: {
    200: {
      ...{ description: "A page of endpoints.", schema: "WebhookEndpoint", many: true, headers },
      examples: { page: [ENDPOINT], empty: [] },
    },
  },
  errors: ["request_invalid"],
});

/** `GET /webhooks/endpoints/{id}`. */
export const getWebhookEndpoint = operation({
  method: "get",
  path: "/webhooks/endpoints/{id}",
  operationId: "getWebhookEndpoint",
  tag,
  summary: "Get an endpoint",
  parameters: endpoint,
  answers: { 200: { ...answer, examples: { stored: ENDPOINT } } },
  errors: ["endpoint_not_found"],
});

/** `PATCH /webhooks/endpoints/{id}`. */
export const changeWebhookEndpoint = operation({
  method: "patch",
  path: "/webhooks/endpoints/{id}",
  operationId: "changeWebhookEndpoint",
  tag,
  summary: "Change an endpoint",
  description:
    "Changes the fields that the body names. Pending deliveries go to the new URL. Events that a disabled endpoint missed are in `GET /events`, and are not delivered later.",
  parameters: endpoint,
  body: { schema: "WebhookEndpointChange", examples: ENDPOINT_CHANGES },
  answers: { 200: { ...answer, examples: { stored: ENDPOINT } } },
  errors: ["request_invalid", "endpoint_not_found", "payload_too_large"],
});

/** `DELETE /webhooks/endpoints/{id}`. */
export const deleteWebhookEndpoint = operation({
  method: "delete",
  path: "/webhooks/endpoints/{id}",
  operationId: "deleteWebhookEndpoint",
  tag,
  summary: "Delete an endpoint",
  description: "Removes an endpoint and its secret. Its pending deliveries fail.",
  parameters: endpoint,
  answers: { 204: { description: "The endpoint is gone." } },
  errors: ["endpoint_not_found"],
});

/** `POST /webhooks/endpoints/{id}/rotate`. */
export const rotateEndpointSecret = operation({
  method: "post",
  path: "/webhooks/endpoints/{id}/rotate",
  operationId: "rotateEndpointSecret",
  tag,
  summary: "Rotate an endpoint's secret",
  description:
    "Replaces the secret; only this response contains the new one. The previous one stays valid for a day, or as long as the body says, during which every post carries a signature by each.",
  parameters: endpoint,
  body: { schema: "RotateRequest", examples: ROTATE_REQUESTS },
  answers: {
    200: {
      description: "The new secret.",
      schema: "WebhookSecret",
      examples: { changed: ENDPOINT_SECRET },
    },
  },
  errors: ["request_invalid", "endpoint_not_found", "payload_too_large"],
});

/** `POST /webhooks/secret/rotate`. */
export const rotateWebhookSecret = operation({
  method: "post",
  path: "/webhooks/secret/rotate",
  operationId: "rotateWebhookSecret",
  tag,
  summary: "Rotate the project's secret",
  description:
    "Replaces the secret that signs posts to the `webhook_url` of tasks and steps; only this response contains the new one. The previous one stays valid for a day, or as long as the body says. Before the first rotation, posts are signed by a secret that was never shown.",
  body: { schema: "RotateRequest", examples: ROTATE_REQUESTS },
  answers: {
    200: { description: "The new secret.", schema: "WebhookSecret", examples: { made: PROJECT_SECRET } },
  },
  errors: ["request_invalid", "payload_too_large"],
});

/** `GET /webhooks/deliveries`. */
export const listWebhookDeliveries = operation({
  method: "get",
  path: "/webhooks/deliveries",
  operationId: "listWebhookDeliveries",
  tag,
  summary: "List deliveries",
  description: "Returns deliveries, newest first, pending ones included. They are kept for seven days.",
  parameters: listParameters("delivery", DELIVERY_STATUSES, EVENT_KINDS, DELIVERY.id),
  answers: {
    200: {
      ...{ description: "A page of deliveries.", schema: "WebhookDelivery", many: true, headers },
      examples: { page: [DELIVERY], empty: [] },
    },
  },
  errors: ["request_invalid", "invalid_kind"],
});

/** `GET /webhooks/deliveries/{id}`. */
export const getWebhookDelivery = operation({
  method: "get",
  path: "/webhooks/deliveries/{id}",
  operationId: "getWebhookDelivery",
  tag,
  summary: "Get a delivery",
  parameters: delivery,
  answers: {
    200: { description: "The delivery.", schema: "WebhookDelivery", examples: { taken: DELIVERY } },
  },
  errors: ["delivery_not_found"],
});

/** `POST /webhooks/deliveries/{id}/replay`. */
export const replayWebhookDelivery = operation({
  method: "post",
  path: "/webhooks/deliveries/{id}/replay",
  operationId: "replayWebhookDelivery",
  tag,
  summary: "Deliver again",
  description:
    "Posts the event again immediately, whatever the delivery's status, and retries for three days.",
  parameters: delivery,
  answers: {
    200: {
      description: "The delivery, pending.",
      schema: "WebhookDelivery",
      examples: { pending: REPLAYED_DELIVERY },
    },
  },
  errors: ["delivery_not_found", "endpoint_not_found", "endpoint_disabled"],
});

/** `GET /events`. */
export const listEvents = operation({
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
      ...{ description: "A page of events.", schema: "Event", many: true, headers },
      examples: { page: [EVENT], empty: [] },
    },
  },
  errors: ["request_invalid", "invalid_kind"],
});

/** `GET /events/{id}`. */
export const getEvent = operation({
  method: "get",
  path: "/events/{id}",
  operationId: "getEvent",
  tag,
  summary: "Get an event",
  parameters: idParameter("event", EVENT.id),
  answers: { 200: { description: "The event.", schema: "Event", examples: { kept: EVENT } } },
  errors: ["event_not_found"],
});
