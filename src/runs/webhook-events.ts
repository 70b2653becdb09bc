import { z } from "zod";
import { brokenWebhook, closed, ruled, timestamp, wholeWithin } from "../media/fields.ts";
import { BOUNDS } from "../media/formats.ts";
import { parseBody } from "../media/parse-body.ts";
import { quote } from "../util/text.ts";
import type { CreateId } from "./ids.ts";
import { Job } from "./job.ts";
import { Step } from "./step.ts";
import { Task } from "./task.ts";

const ENDS = ["succeeded", "failed", "cancelled"] as const;
const CHANGES = ["created", "updated", ...ENDS] as const;

/**
 * The kinds of events: a task or a standalone step was created, entered another non-terminal state, or ended; a job's last task
 * ended.
 */
export const EVENT_KINDS = [
  ...CHANGES.map((change) => `task.${change}` as const),
  ...CHANGES.map((change) => `step.${change}` as const),
  ...ENDS.map((end) => `job.${end}` as const),
] as const;
/** The kind of an event. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** The topics of an endpoint: kinds of events, or `*` for all present and future ones. */
export const TOPICS = [...EVENT_KINDS, "*"] as const;
/** A topic of an endpoint. */
export type Topic = (typeof TOPICS)[number];

/** Bounds of endpoints: how many a project may have, and seconds for which a replaced secret stays valid. */
export const WEBHOOK_BOUNDS = {
  endpoints: { max: 20 },
  keep_seconds: { min: 0, max: 604_800, default: 86_400 },
} as const;

const URL_RULE = `must be a URL that starts with https://, up to ${BOUNDS.url_length.max} characters.`;
const url = ruled(z.string(URL_RULE).max(BOUNDS.url_length.max), brokenWebhook).meta({
  description: "The https:// URL to which events are posted.",
  example: "https://example.com/hooks",
});
const TOPICS_RULE = `must be a list of topics: ${TOPICS.join(", ")}.`;
const topic = z.enum(TOPICS, {
  error: ({ input }) =>
    typeof input === "string" ? `cannot hold ${quote(input)}; use ${TOPICS.join(", ")}.` : TOPICS_RULE,
});
const topics = z
  .array(topic, TOPICS_RULE)
  .min(1)
  .max(TOPICS.length)
  .meta({
    description: "The kinds of events that the endpoint receives; `*` stands for all.",
    example: ["task.succeeded"],
  });

/** An event of a project, as listed and as posted. */
export const WebhookEvent = z
  .object({
    id: z.string().meta({
      description: "Id of the event, also in the header `webhook-id`.",
      example: "evt_01kbb1d3x4e8v0t6m9q2y5z7av",
    }),
    object: z.literal("event"),
    kind: z.enum(EVENT_KINDS),
    data: z.union([Task, Step, Job]).meta({ description: "The task, step or job at the time of the event." }),
    created_at: timestamp,
  })
  .meta({ id: "Event" });
/** An event of a project, as listed and as posted. */
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/** Body of `POST /webhooks/endpoints`. */
export const WebhookEndpointRequest = closed({ url, topics: topics.optional() }).meta({
  id: "WebhookEndpointRequest",
});
/** A valid request for an endpoint; without topics it receives every event. */
export type WebhookEndpointRequest = z.infer<typeof WebhookEndpointRequest>;

/** The states of an endpoint; its owner or a 410 response disables it. */
export const ENDPOINT_STATUSES = ["active", "disabled"] as const;

/** Body of `PATCH /webhooks/endpoints/{id}`: the fields to change. */
export const WebhookEndpointChange = closed({
  url: url.optional(),
  topics: topics.optional(),
  status: z.enum(ENDPOINT_STATUSES, `must be ${ENDPOINT_STATUSES.join(" or ")}.`).optional(),
})
  .refine((change) => Object.keys(change).length > 0, "The body names no change.")
  .meta({ id: "WebhookEndpointChange" });
/** The fields of an endpoint to change. */
export type WebhookEndpointChange = z.infer<typeof WebhookEndpointChange>;

/** A URL that receives a project's events, without its secret. */
export const WebhookEndpoint = z
  .object({
    id: z.string().meta({ example: "we_01kaggm8q0fzr2n5v3x7c1d9jb" }),
    object: z.literal("webhook_endpoint"),
    url,
    topics,
    status: z
      .enum(ENDPOINT_STATUSES)
      .meta({ description: "State of the endpoint; one that responds with 410 becomes `disabled`." }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: "WebhookEndpoint" });
/** A URL that receives a project's events, without its secret. */
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>;

const secret = z.string().meta({
  description: "The secret that signs each delivery (Standard Webhooks); returned only once.",
  example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
});

/** The response to `POST /webhooks/endpoints`, the only one with the secret. */
export const NewWebhookEndpoint = WebhookEndpoint.extend({ secret }).meta({ id: "NewWebhookEndpoint" });
/** The response to `POST /webhooks/endpoints`, the only one with the secret. */
export type NewWebhookEndpoint = z.infer<typeof NewWebhookEndpoint>;

/** Body of `POST /webhooks/endpoints/{id}/rotate` and of `POST /webhooks/secret/rotate`. */
export const RotateRequest = closed({
  keep_seconds: wholeWithin(WEBHOOK_BOUNDS.keep_seconds)
    .optional()
    .meta({
      description: `Seconds for which the old secret stays valid beside the new one; default ${WEBHOOK_BOUNDS.keep_seconds.default}, a day.`,
    }),
}).meta({ id: "RotateRequest" });
/** How to replace a secret. */
export type RotateRequest = z.infer<typeof RotateRequest>;

/** A new secret; until the previous one expires, every delivery carries a signature by each. */
export const WebhookSecret = z
  .object({
    object: z.literal("webhook_secret"),
    endpoint_id: z.string().nullable().meta({
      description:
        "Id of the endpoint; null for the secret of the project, which signs posts to a `webhook_url`.",
    }),
    secret,
    previous_until: timestamp
      .nullable()
      .meta({ description: "When the previous secret expires; null when it already has." }),
    created_at: timestamp,
  })
  .meta({ id: "WebhookSecret" });
/** A new secret. */
export type WebhookSecret = z.infer<typeof WebhookSecret>;

/** The states of a delivery; a pending one is retried for three days. */
export const DELIVERY_STATUSES = ["pending", "succeeded", "failed"] as const;
/** The state of a delivery. */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One attempt to post an event. */
export const DeliveryAttempt = z
  .object({
    at: timestamp,
    duration: z.int().meta({ description: "Duration of the attempt in milliseconds." }),
    response_status: z
      .int()
      .nullable()
      .meta({ description: "HTTP status of the response; null if there was none." }),
    error: z
      .string()
      .nullable()
      .meta({ description: "The reason why the attempt failed; null if it succeeded." }),
  })
  .meta({ id: "DeliveryAttempt" });
/** One attempt to post an event. */
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

/** The delivery of an event to one URL. */
export const WebhookDelivery = z
  .object({
    id: z.string().meta({ example: "dlv_01kaggm8q0fzr2n5v3x7c1d9jb" }),
    object: z.literal("webhook_delivery"),
    kind: z.enum(EVENT_KINDS).meta({ description: "The kind of the event." }),
    event_id: z.string(),
    endpoint_id: z
      .string()
      .nullable()
      .meta({ description: "Id of the endpoint; null for the `webhook_url` of a task or step." }),
    url: z.string(),
    status: z.enum(DELIVERY_STATUSES),
    error: z
      .string()
      .nullable()
      .meta({ description: "The reason why the event is not delivered yet, or never will be." }),
    attempts: z.array(DeliveryAttempt).meta({ description: "The last 20 attempts, oldest first." }),
    next_attempt_at: timestamp.nullable(),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: "WebhookDelivery" });
/** The delivery of an event to one URL. */
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** Returns the kind of event that a record's change from its previous state causes; null for none. */
export function eventKindOf(
  record: Pick<Task | Step, "object" | "status">,
  before: Pick<Task | Step, "status"> | null,
): EventKind | null {
  const { object, status } = record;
  if (before === null) return `${object}.created`;
  if (before.status === status) return null;
  if (status === "succeeded" || status === "failed" || status === "cancelled") return `${object}.${status}`;
  return `${object}.updated`;
}

/** Returns the kind of event that the end of a job causes; null while it runs. */
export function jobEndKind({ status }: Pick<Job, "status">): EventKind | null {
  const end = ENDS.find((each) => each === status);
  return end ? `job.${end}` : null;
}

/** Parses the body of `POST /webhooks/endpoints`; throws `request_invalid` with the field at fault. */
export function parseEndpointRequest(body: unknown): WebhookEndpointRequest {
  return parseBody(WebhookEndpointRequest, body);
}

/** Parses the body of `PATCH /webhooks/endpoints/{id}`; throws `request_invalid` with the field at fault. */
export function parseEndpointChange(body: unknown): WebhookEndpointChange {
  return parseBody(WebhookEndpointChange, body);
}

/** Parses the body of a request to replace a secret; throws `request_invalid` with the field at fault. */
export function parseRotateRequest(body: unknown): { keep_seconds: number } {
  const { keep_seconds = WEBHOOK_BOUNDS.keep_seconds.default } = parseBody(RotateRequest, body);
  return { keep_seconds };
}

/** Creates the record of a new endpoint. */
export function createEndpoint(
  { url, topics = ["*"] }: WebhookEndpointRequest,
  id: CreateId,
  now: number,
): WebhookEndpoint {
  return {
    id: id("endpoint", now),
    object: "webhook_endpoint",
    url,
    topics: [...new Set(topics)],
    status: "active",
    created_at: now,
    updated_at: now,
  };
}

/** Returns an endpoint with a change applied. */
export function changeEndpoint(
  before: WebhookEndpoint,
  change: WebhookEndpointChange,
  now: number,
): WebhookEndpoint {
  const { url = before.url, topics = before.topics, status = before.status } = change;
  return { ...before, url, topics: [...new Set(topics)], status, updated_at: now };
}

/** Whether an endpoint receives events of a kind. */
export function subscribesTo({ topics, status }: WebhookEndpoint, kind: EventKind): boolean {
  return status === "active" && (topics.includes("*") || topics.includes(kind));
}
