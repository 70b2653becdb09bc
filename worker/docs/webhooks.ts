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
    "Has the project's events posted to a URL, signed by [Standard Webhooks](https://www.standardwebhooks.com). This answer alone holds the secret. An event is posted at least once, in no fixed order, and again with growing delays for three days until it is answered with 200 to 299 within 10 seconds; redirects are not followed, and 410 disables the endpoint. Tell events that come twice by the header `webhook-id`.",
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
  description: "Gives the project's endpoints, the newest first.",
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
    "Changes the fields that the body names. What is on its way goes to the new URL. What a disabled endpoint missed is in `GET /events`, and not delivered later.",
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
  description: "Removes an endpoint and its secret. What is on its way is not delivered any more.",
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
  summary: "Change the secret of an endpoint",
  description:
    "Makes a new secret, which this answer alone holds. The one so far is good for another day, or as long as the body says: until then everything carries a signature by each.",
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
  summary: "Change the secret of the project",
  description:
    "Makes the secret that signs what goes to the `webhook_url` of tasks and steps, which this answer alone holds. The one so far is good for another day, or as long as the body says. Until it is asked for here, they are signed by one that nobody knows.",
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
  description: "Gives what was delivered or is to be, the newest first. Deliveries are kept for seven days.",
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
  description: "Posts the same event again at once, whatever came of it before, and again for three days.",
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
    "Gives what happened in the project, the newest first: whatever endpoints are told, and told or not. Whoever reads on with `order=asc` and `after` misses none. Events are kept for seven days, also those of deleted tasks.",
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
