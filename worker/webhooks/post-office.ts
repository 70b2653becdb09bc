import type { CreateId } from "../../src/runs/ids.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import {
  type DeliveryAttempt,
  type EventKind,
  type WebhookDelivery,
  type WebhookEndpoint,
  wants,
} from "../../src/runs/webhook-events.ts";
import { deliveryErrors } from "../errors.ts";
import type { Sql } from "../sql.ts";
import { createDeliveryTable } from "./delivery-table.ts";
import { createEndpointTable, type EndpointTable } from "./endpoint-table.ts";
import { createEventTable } from "./event-table.ts";
import { createSecretTable, type SecretTable } from "./secret-table.ts";
import { type ChangeSet, type Outcome, PROJECT_OWNER, type Shipment } from "./shipment.ts";

/** The events of one project, their receivers and deliveries. Every operation is atomic. */
export interface PostOffice {
  readonly endpoints: EndpointTable;
  readonly secrets: SecretTable;
  /** Adds an endpoint with its sealed secret; null when the project has the maximum. */
  addEndpoint(endpoint: WebhookEndpoint, sealed: string, now?: number): WebhookEndpoint | null;
  /** Removes an endpoint with its secrets; false when there is none. */
  removeEndpoint(id: string): boolean;
  /** Creates the events of changes and a delivery for each receiver; returns the deliveries due now. A repeated change creates nothing. */
  post(set: ChangeSet, now: number): Shipment[];
  /** Packs the events of a finished run. */
  pack(run_id: string): void;
  /** Removes the events and deliveries of a run before its record; those still to be delivered, once they are. */
  removeOf(run_id: string): void;
  /** Removes a run's events and deliveries, after its job was refused. */
  withdraw(run_id: string): void;
  /** Lets the events of a run stay without its record. */
  detach(run_id: string): void;
  /** Returns a pending delivery with all that it needs; null when it is no longer pending. */
  ship(delivery_id: string, now?: number): Shipment | null;
  /** Records an attempt; an endpoint that is gone is disabled. */
  note(delivery_id: string, outcome: Outcome): void;
  /** Makes a delivery pending again, or returns what is missing for it. */
  replay(delivery_id: string, now?: number): WebhookDelivery | "delivery" | "endpoint" | "disabled";
  /** Returns an event as JSON. */
  event(id: string, now?: number): string | null;
  events(query: ListQuery, now?: number): ListPage<string>;
  /** Returns a delivery and the run whose object makes it. */
  delivery(id: string, now?: number): { run_id: string; delivery: WebhookDelivery } | null;
  deliveries(query: ListQuery, now?: number): ListPage<WebhookDelivery>;
  /** Removes what has expired; returns when something expires next, null when nothing is left. */
  prune(now: number): number | null;
}

// Attempts stored of each delivery.
const MOST_KEPT = 20;

/** What the Worker and the objects of runs ask of a post office. */
export type Mail = Omit<
  PostOffice,
  "endpoints" | "secrets" | "post" | "pack" | "withdraw" | "detach" | "removeOf" | "prune"
>;

/** The runs whose changes become events. */
export interface EventRuns {
  /** Returns the record of a run as JSON; null for an unknown one. */
  get(run_id: string): string | null;
  /** Whether the run was deleted. */
  isGone(run_id: string): boolean;
}

/** Creates the post office of a project in its database; events and deliveries expire after `keep_ms`. */
export function createPostOffice(
  sql: Sql,
  ids: CreateId,
  keep_ms: number,
  runs: EventRuns = { get: () => null, isGone: () => false },
): PostOffice {
  const endpoints = createEndpointTable(sql);
  const secrets = createSecretTable(sql);
  const events = createEventTable(sql, ids, runs.get);
  const deliveries = createDeliveryTable(sql);

  function toShipment(
    { id, event_id, endpoint_id, url }: WebhookDelivery,
    body: string,
    now: number,
  ): Shipment {
    const owner = endpoint_id ?? PROJECT_OWNER;
    return { id, event_id, url, body, owner, sealed: secrets.of(owner, now) };
  }

  function open(
    event: { id: string; kind: EventKind },
    run_id: string,
    to: Target,
    now: number,
  ): WebhookDelivery {
    const delivery: WebhookDelivery = {
      ...{
        id: ids("delivery", now),
        object: "webhook_delivery",
        kind: event.kind,
        event_id: event.id,
        ...to,
      },
      ...{ status: "pending", error: null, attempts: [], next_attempt_at: now },
      ...{ created_at: now, finished_at: null },
    };
    deliveries.put({ run_id, delivery });
    return delivery;
  }

  function close(run_id: string, delivery: WebhookDelivery, error: string, now: number): void {
    const closed = { status: "failed", error, next_attempt_at: null, finished_at: now } as const;
    deliveries.put({ run_id, delivery: { ...delivery, ...closed } });
    if (runs.isGone(run_id)) removeOf(run_id);
  }

  function removeOf(run_id: string): void {
    const pending = (event_id: string) => deliveries.pendingOf(event_id).length > 0;
    for (const event_id of events.removeOf(run_id, pending)) deliveries.removeOf(event_id);
  }

  // Where a delivery goes now: its endpoint may have a new URL, or be disabled or deleted.
  function target({ endpoint_id, url }: WebhookDelivery): Target | string {
    if (endpoint_id === null) return { endpoint_id, url };
    const endpoint = endpoints.get(endpoint_id);
    if (!endpoint) return deliveryErrors.endpointDeleted();
    return endpoint.status === "active"
      ? { endpoint_id, url: endpoint.url }
      : deliveryErrors.endpointDisabled();
  }

  function prune(now: number): number | null {
    events.prune(now - keep_ms);
    deliveries.prune(now - keep_ms);
    const oldest = events.oldest();
    return oldest === null ? null : oldest + keep_ms + 1;
  }

  function ship(delivery_id: string, now = Date.now()): Shipment | null {
    const found = deliveries.get(delivery_id);
    const event = found && events.get(found.delivery.event_id);
    if (!event || found.delivery.status !== "pending") return null;
    const { run_id, delivery } = found;
    const to = target(delivery);
    if (typeof to !== "string") return toShipment({ ...delivery, ...to }, event.body, now);
    close(run_id, delivery, to, now);
    return null;
  }

  return {
    endpoints,
    secrets,
    addEndpoint(endpoint, sealed, now = Date.now()) {
      const added = endpoints.add(endpoint);
      // An endpoint whose answer was lost is created again, with another secret.
      secrets.remove(endpoint.id);
      if (added) secrets.first(added.id, sealed, now);
      return added;
    },
    removeEndpoint(id) {
      secrets.remove(id);
      return endpoints.remove(id);
    },
    ship,
    prune,
    pack: events.pack,
    withdraw(run_id) {
      for (const event_id of events.removeOf(run_id, () => false)) deliveries.removeOf(event_id);
    },
    detach: (run_id) => void events.removeOf(run_id, () => true),
    removeOf,
    post({ run_id, changes, webhook_url }, now) {
      if (changes.length === 0) return [];
      prune(now);
      const told = endpoints.all();
      return changes.flatMap((change) => {
        const { is_new, ...event } = events.add(run_id, change, now);
        const made = is_new
          ? targetsOf(told, webhook_url, event.kind).map((to) => open(event, run_id, to, now).id)
          : deliveries.pendingOf(event.id);
        return made.map((id) => ship(id, now)).filter((shipment) => shipment !== null);
      });
    },
    note(delivery_id, { attempt, verdict, next_at }) {
      const found = deliveries.get(delivery_id);
      if (found?.delivery.status !== "pending") return;
      const { run_id, delivery } = found;
      const over = next_at === null;
      const status = verdict === "delivered" ? "succeeded" : over ? "failed" : "pending";
      const attempts: DeliveryAttempt[] = [...delivery.attempts, attempt].slice(-MOST_KEPT);
      const end = attempt.at + attempt.duration;
      deliveries.put({
        run_id,
        delivery: {
          ...delivery,
          ...{ attempts, status, error: attempt.error, next_attempt_at: next_at },
          finished_at: over ? end : null,
        },
      });
      const { endpoint_id } = delivery;
      if (verdict === "gone" && endpoint_id !== null)
        endpoints.change(endpoint_id, { status: "disabled" }, end);
      if (over && runs.isGone(run_id)) removeOf(run_id);
    },
    replay(delivery_id, now = Date.now()) {
      prune(now);
      const found = deliveries.get(delivery_id);
      if (!found) return "delivery";
      const to = target(found.delivery);
      if (typeof to === "string")
        return endpoints.get(found.delivery.endpoint_id ?? "") ? "disabled" : "endpoint";
      const again = { status: "pending", error: null, next_attempt_at: now, finished_at: null } as const;
      const delivery = { ...found.delivery, ...to, ...again };
      deliveries.put({ ...found, delivery });
      return delivery;
    },
    event(id, now = Date.now()) {
      prune(now);
      return events.get(id)?.body ?? null;
    },
    events(query, now = Date.now()) {
      prune(now);
      return events.list(query);
    },
    delivery(id, now = Date.now()) {
      prune(now);
      return deliveries.get(id);
    },
    deliveries(query, now = Date.now()) {
      prune(now);
      return deliveries.list(query);
    },
  };
}

type Target = Pick<WebhookDelivery, "endpoint_id" | "url">;

function targetsOf(
  endpoints: readonly WebhookEndpoint[],
  webhook_url: string | null,
  kind: EventKind,
): Target[] {
  const wanting = endpoints.filter((endpoint) => wants(endpoint, kind));
  const targets: Target[] = wanting.map(({ id, url }) => ({ endpoint_id: id, url }));
  const own = webhook_url === null ? [] : [{ endpoint_id: null, url: webhook_url }];
  return [...targets, ...own];
}
