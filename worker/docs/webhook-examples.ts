import type {
  NewWebhookEndpoint,
  RotateRequest,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookEndpointChange,
  WebhookEndpointRequest,
  WebhookEvent,
  WebhookSecret,
} from "../../src/core/webhook.ts";
import { SUCCEEDED_TASK } from "./examples.ts";

const NOW = 1_795_167_000_000;

/** Requests for endpoints. */
export const ENDPOINT_REQUESTS: Record<string, WebhookEndpointRequest> = {
  ends: { url: "https://example.com/hooks", topics: ["task.succeeded", "task.failed", "task.cancelled"] },
  everything: { url: "https://example.com/hooks" },
};

/** Changes of an endpoint. */
export const ENDPOINT_CHANGES: Record<string, WebhookEndpointChange> = {
  another_url: { url: "https://example.com/media/hooks" },
  other_topics: { topics: ["*"] },
  enable: { status: "active" },
};

/** A stored endpoint. */
export const ENDPOINT: WebhookEndpoint = {
  id: "we_01kaggm8q0fzr2n5v3x7c1d9jb",
  object: "webhook_endpoint",
  url: "https://example.com/hooks",
  topics: ["task.succeeded", "task.failed", "task.cancelled"],
  status: "active",
  created_at: NOW,
  updated_at: NOW,
};

const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfUh8r2JFk=";

/** An endpoint as it is answered when it is made. */
export const NEW_ENDPOINT: NewWebhookEndpoint = { ...ENDPOINT, secret };

/** How secrets are changed. */
export const ROTATE_REQUESTS: Record<string, RotateRequest> = {
  day: {},
  at_once: { keep_seconds: 0 },
};

/** A new secret of an endpoint. */
export const ENDPOINT_SECRET: WebhookSecret = {
  object: "webhook_secret",
  endpoint_id: ENDPOINT.id,
  secret,
  previous_until: NOW + 86_400_000,
  created_at: NOW,
};

/** A new secret of a project. */
export const PROJECT_SECRET: WebhookSecret = { ...ENDPOINT_SECRET, endpoint_id: null, previous_until: null };

/** An event. */
export const EVENT: WebhookEvent = {
  id: "evt_01kaggm8q0fzr2n5v3x7c1d9jb",
  object: "event",
  kind: "task.succeeded",
  data: SUCCEEDED_TASK,
  created_at: SUCCEEDED_TASK.updated_at,
};

/** A delivery that was taken at the second try. */
export const DELIVERY: WebhookDelivery = {
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

/** The same delivery, to be made again. */
export const REPLAYED_DELIVERY: WebhookDelivery = {
  ...DELIVERY,
  ...{ status: "pending", next_attempt_at: NOW + 60_000, finished_at: null },
};
