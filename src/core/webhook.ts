import { z } from "zod";
import { MediaError } from "./errors.ts";
import { BOUNDS } from "./formats.ts";
import type { CreateId } from "./ids.ts";
import { parseObject, quote } from "./parse-object.ts";
import { Step } from "./step.ts";
import { Task } from "./task.ts";

const CHANGES = ["created", "updated", "succeeded", "failed", "cancelled"] as const;

/** What an event tells of: a task, or a step that stands alone, was created, got another state that is not its last, or ended. */
export const EVENT_KINDS = [
  ...CHANGES.map((change) => `task.${change}` as const),
  ...CHANGES.map((change) => `step.${change}` as const),
] as const;
/** What an event tells of. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** What an endpoint may ask for: kinds of events, or `*` for all that there are and will be. */
export const TOPICS = [...EVENT_KINDS, "*"] as const;
/** What an endpoint may ask for. */
export type Topic = (typeof TOPICS)[number];

/** Bounds of endpoints: how many a project has, and how long an old secret is good after a change, in seconds. */
export const WEBHOOK_BOUNDS = {
  endpoints: { max: 20 },
  keep_seconds: { min: 0, max: 604_800, default: 86_400 },
} as const;

const milliseconds = z
  .int()
  .meta({ description: "Milliseconds since the Unix epoch.", example: 1_795_170_600_000 });
const url = z
  .string()
  .max(BOUNDS.url_length.max)
  .meta({ description: "Where events are posted to, https://.", example: "https://example.com/hooks" });
const topics = z
  .array(z.enum(TOPICS))
  .min(1)
  .max(TOPICS.length)
  .meta({
    description: "The kinds of events that it is told; `*` stands for all.",
    example: ["task.succeeded"],
  });

/** An event of a project, as it is listed and as it is posted. */
export const WebhookEvent = z
  .object({
    id: z
      .string()
      .meta({ description: "Also in the header `webhook-id`.", example: "evt_01kbb1d3x4e8v0t6m9q2y5z7av" }),
    object: z.literal("event"),
    kind: z.enum(EVENT_KINDS),
    data: z.union([Task, Step]).meta({ description: "The task or step as it was then." }),
    created_at: milliseconds,
  })
  .meta({ id: "Event" });
/** An event of a project, as it is listed and as it is posted. */
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/** Body of `POST /webhooks/endpoints`. */
export const WebhookEndpointRequest = z
  .strictObject({ url, topics: topics.optional() })
  .meta({ id: "WebhookEndpointRequest" });
/** A request for an endpoint that passed every check; without topics it is told everything. */
export type WebhookEndpointRequest = z.infer<typeof WebhookEndpointRequest>;

/** The states of an endpoint: `disabled` by its owner, or because it answered 410. */
export const ENDPOINT_STATUSES = ["active", "disabled"] as const;

/** Body of `PATCH /webhooks/endpoints/{id}`: what is to be another. */
export const WebhookEndpointChange = z
  .strictObject({ url, topics, status: z.enum(ENDPOINT_STATUSES) })
  .partial()
  .meta({ id: "WebhookEndpointChange" });
/** What is to be another of an endpoint. */
export type WebhookEndpointChange = z.infer<typeof WebhookEndpointChange>;

/** Where events of a project are posted to, without its secret. */
export const WebhookEndpoint = z
  .object({
    id: z.string().meta({ example: "we_01kaggm8q0fzr2n5v3x7c1d9jb" }),
    object: z.literal("webhook_endpoint"),
    url,
    topics,
    status: z.enum(ENDPOINT_STATUSES).meta({ description: "An endpoint that answers 410 is disabled." }),
    created_at: milliseconds,
    updated_at: milliseconds,
  })
  .meta({ id: "WebhookEndpoint" });
/** Where events of a project are posted to, without its secret. */
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>;

const secret = z.string().meta({
  description: "Signs what is posted (Standard Webhooks); told this once.",
  example: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
});

/** The answer to `POST /webhooks/endpoints`: the only one with the secret. */
export const NewWebhookEndpoint = WebhookEndpoint.extend({ secret }).meta({ id: "NewWebhookEndpoint" });
/** The answer to `POST /webhooks/endpoints`: the only one with the secret. */
export type NewWebhookEndpoint = z.infer<typeof NewWebhookEndpoint>;

/** Body of `POST /webhooks/endpoints/{id}/rotate` and of `POST /webhooks/secret/rotate`. */
export const RotateRequest = z
  .strictObject({
    keep_seconds: z
      .int()
      .min(WEBHOOK_BOUNDS.keep_seconds.min)
      .max(WEBHOOK_BOUNDS.keep_seconds.max)
      .optional()
      .meta({
        description: `How long the secret so far is good beside the new one; default ${WEBHOOK_BOUNDS.keep_seconds.default}, a day.`,
      }),
  })
  .meta({ id: "RotateRequest" });
/** How a secret is changed. */
export type RotateRequest = z.infer<typeof RotateRequest>;

/** A new secret; the one before is good for a while, and everything posted until then carries a signature by each. */
export const WebhookSecret = z
  .object({
    object: z.literal("webhook_secret"),
    endpoint_id: z
      .string()
      .nullable()
      .meta({ description: "Null for the secret of the project, which signs what goes to a `webhook_url`." }),
    secret,
    previous_until: milliseconds
      .nullable()
      .meta({ description: "Until when the secret before is good; null when it is not." }),
    created_at: milliseconds,
  })
  .meta({ id: "WebhookSecret" });
/** A new secret. */
export type WebhookSecret = z.infer<typeof WebhookSecret>;

/** The states of a delivery; a pending one is tried again for three days. */
export const DELIVERY_STATUSES = ["pending", "succeeded", "failed"] as const;
/** The state of a delivery. */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One try to post an event. */
export const DeliveryAttempt = z
  .object({
    at: milliseconds,
    duration: z.int().meta({ description: "Milliseconds." }),
    response_status: z.int().nullable().meta({ description: "Null when there was no answer." }),
    error: z.string().nullable().meta({ description: "Why it did not count; null when it did." }),
  })
  .meta({ id: "DeliveryAttempt" });
/** One try to post an event. */
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

/** An event on its way to one URL. */
export const WebhookDelivery = z
  .object({
    id: z.string().meta({ example: "dlv_01kaggm8q0fzr2n5v3x7c1d9jb" }),
    object: z.literal("webhook_delivery"),
    kind: z.enum(EVENT_KINDS).meta({ description: "The kind of its event." }),
    event_id: z.string(),
    endpoint_id: z.string().nullable().meta({ description: "Null for the `webhook_url` of a task or step." }),
    url: z.string(),
    status: z.enum(DELIVERY_STATUSES),
    error: z.string().nullable().meta({ description: "Why it is not delivered, or not yet." }),
    attempts: z.array(DeliveryAttempt).meta({ description: "The last 20, oldest first." }),
    next_attempt_at: milliseconds.nullable(),
    created_at: milliseconds,
    finished_at: milliseconds.nullable(),
  })
  .meta({ id: "WebhookDelivery" });
/** An event on its way to one URL. */
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** Gives the kind of the event that a record in its state makes, from the state before; null when there is none to tell of. */
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

/** Parses the body of `POST /webhooks/endpoints`; throws `request_invalid` with the field at fault. */
export function parseEndpointRequest(body: unknown): WebhookEndpointRequest {
  const given = parse(WebhookEndpointRequest, body);
  return { ...given, url: parseWebhookUrl(given.url, "url") };
}

/** Parses the body of `PATCH /webhooks/endpoints/{id}`; throws `request_invalid` with the field at fault. */
export function parseEndpointChange(body: unknown): WebhookEndpointChange {
  const change = parse(WebhookEndpointChange, body);
  if (Object.keys(change).length === 0) throw new MediaError("request_invalid", "The body names no change.");
  if (change.url !== undefined) parseWebhookUrl(change.url, "url");
  return change;
}

/** Parses the body of a change of a secret; throws `request_invalid` with the field at fault. */
export function parseRotateRequest(body: unknown): { keep_seconds: number } {
  const { keep_seconds = WEBHOOK_BOUNDS.keep_seconds.default } = parse(RotateRequest, body);
  return { keep_seconds };
}

/** Parses a URL that events are to be posted to; throws `request_invalid`. Whether its host may be contacted is for the service to say. */
export function parseWebhookUrl(value: unknown, param: string): string {
  if (typeof value !== "string") throw invalid(param, "must be a string.");
  if (value.length > BOUNDS.url_length.max)
    throw invalid(param, `must not be longer than ${BOUNDS.url_length.max} characters.`);
  // The URL parser drops line breaks and tabs, so that the text would not be what is asked.
  if (/\p{Cc}/u.test(value)) throw invalid(param, "must not hold control characters.");
  const parsed = URL.parse(value);
  if (!parsed?.hostname || !/^https?:\/\//i.test(value))
    throw invalid(param, "must be a URL that starts with https://.");
  if (parsed.username || parsed.password) throw invalid(param, "must not hold a user name or password.");
  return value;
}

/** Builds the record of a new endpoint. */
export function createEndpoint(
  { url, topics = ["*"] }: WebhookEndpointRequest,
  id: CreateId,
  now: number,
): WebhookEndpoint {
  const times = { created_at: now, updated_at: now };
  return {
    ...{ id: id("endpoint", now), object: "webhook_endpoint", url },
    ...{ topics: [...new Set(topics)], status: "active", ...times },
  };
}

/** Gives an endpoint with a change made to it. */
export function changeEndpoint(
  before: WebhookEndpoint,
  change: WebhookEndpointChange,
  now: number,
): WebhookEndpoint {
  const { url = before.url, topics = before.topics, status = before.status } = change;
  return { ...before, url, topics: [...new Set(topics)], status, updated_at: now };
}

/** True when an endpoint is to be told of events of a kind. */
export function wants({ topics, status }: WebhookEndpoint, kind: EventKind): boolean {
  return status === "active" && (topics.includes("*") || topics.includes(kind));
}

const RIGHT: Readonly<Record<string, string>> = {
  url: `must be a URL that starts with https://, up to ${BOUNDS.url_length.max} characters.`,
  topics: `must be a list of topics: ${TOPICS.join(", ")}.`,
  status: `must be ${ENDPOINT_STATUSES.join(" or ")}.`,
  keep_seconds: `must be a whole number from ${WEBHOOK_BOUNDS.keep_seconds.min} to ${WEBHOOK_BOUNDS.keep_seconds.max}.`,
};

function parse<T extends z.ZodObject>(schema: T, body: unknown): z.infer<T> {
  const given = parseObject(body, Object.keys(schema.shape));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [field, index] = parsed.error.issues[0]?.path ?? [];
  const param = String(field ?? "");
  const item = index === undefined ? undefined : (given[param] as unknown[])[Number(index)];
  if (typeof item === "string")
    throw new MediaError("request_invalid", `Unknown topic ${quote(item)}; use ${TOPICS.join(", ")}.`, {
      param,
    });
  throw invalid(param, RIGHT[param] ?? "is wrong.");
}

function invalid(param: string, fault: string): MediaError {
  return new MediaError("request_invalid", `${param} ${fault}`, { param });
}
