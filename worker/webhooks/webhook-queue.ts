import type { CreateId } from "../../src/runs/ids.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import {
  type DeliveryAttempt,
  type DeliveryStatus,
  type EventKind,
  subscribesTo,
  type WebhookDelivery,
  type WebhookEndpoint,
} from "../../src/runs/webhook-events.ts";
import { deliveryErrors } from "../errors.ts";
import { type Packed, pack, type Sql, unpack, whereOf } from "../sql.ts";
import {
  type AttemptResult,
  type Change,
  type ChangeSet,
  type DeliveryRequest,
  PROJECT_OWNER,
} from "./delivery.ts";
import {
  createEndpointTable,
  createSecretTable,
  type EndpointTable,
  type SecretTable,
} from "./endpoint-table.ts";

/** The webhook events of one project, their endpoints and deliveries. Every operation is atomic. */
export interface WebhookQueue {
  readonly endpoints: EndpointTable;
  readonly secrets: SecretTable;
  /** Adds an endpoint with its sealed secret; null when the project has the maximum. */
  addEndpoint(endpoint: WebhookEndpoint, sealed: string, now?: number): WebhookEndpoint | null;
  /** Removes an endpoint with its secrets; false when there is none. */
  removeEndpoint(id: string): boolean;
  /** Creates the events of changes and a delivery for each receiver; returns the deliveries that are due. A repeated change creates nothing new. */
  post(set: ChangeSet, now: number): DeliveryRequest[];
  /** Packs the events of a finished run. */
  pack(run_id: string): void;
  /** Removes the events and deliveries of a run before its record; pending ones are removed after their last attempt. */
  removeOf(run_id: string): void;
  /** Removes all events and deliveries of a withdrawn run. */
  withdraw(run_id: string): void;
  /** Unpacks the events of a run, so that they no longer depend on its record. */
  detach(run_id: string): void;
  /** Returns the request of a pending delivery; null when it is no longer pending. */
  ship(delivery_id: string, now?: number): DeliveryRequest | null;
  /** Records an attempt, and disables an endpoint that answered that it is gone. */
  note(delivery_id: string, outcome: AttemptResult): void;
  /** Makes a delivery pending again, or returns what is missing for it. */
  replay(delivery_id: string, now?: number): WebhookDelivery | "delivery" | "endpoint" | "disabled";
  /** Returns an event as JSON. */
  event(id: string, now?: number): string | null;
  events(query: ListQuery, now?: number): ListPage<string>;
  /** Returns a delivery and the run whose object sends it. */
  delivery(id: string, now?: number): { run_id: string; delivery: WebhookDelivery } | null;
  deliveries(query: ListQuery, now?: number): ListPage<WebhookDelivery>;
  /** Removes expired events and deliveries; returns when the next event expires, null when none is left. */
  prune(now: number): number | null;
}

const MAX_ATTEMPTS = 20;

/** The methods that the Worker and the objects of runs call. */
export type WebhookQueueMethods = Omit<
  WebhookQueue,
  "endpoints" | "secrets" | "post" | "pack" | "withdraw" | "detach" | "removeOf" | "prune"
>;

/** The records of the runs whose changes become events. */
export interface EventRuns {
  /** Returns the record of a run as JSON; null for an unknown one. */
  get(run_id: string): string | null;
  /** Whether the run was deleted. */
  isGone(run_id: string): boolean;
}

/** Creates the webhook queue of a project in its database; events and deliveries expire after `keep_ms` milliseconds. */
export function createWebhookQueue(
  sql: Sql,
  ids: CreateId,
  keep_ms: number,
  runs: EventRuns = { get: () => null, isGone: () => false },
): WebhookQueue {
  const endpoints = createEndpointTable(sql);
  const secrets = createSecretTable(sql);
  const events = createEventTable(sql, ids, runs.get);
  const deliveries = createDeliveryTable(sql);
  const dispatch = createDispatch({ ids, runs, endpoints, secrets, events, deliveries });

  function prune(now: number): number | null {
    events.prune(now - keep_ms);
    deliveries.prune(now - keep_ms);
    const oldest = events.oldest();
    return oldest === null ? null : oldest + keep_ms + 1;
  }

  return {
    endpoints,
    secrets,
    addEndpoint(endpoint, sealed, now = Date.now()) {
      const added = endpoints.add(endpoint);
      // A client that lost the response creates the endpoint again, with another secret.
      secrets.remove(endpoint.id);
      if (added) secrets.first(added.id, sealed, now);
      return added;
    },
    removeEndpoint(id) {
      secrets.remove(id);
      return endpoints.remove(id);
    },
    ship: (delivery_id, now = Date.now()) => dispatch.ship(delivery_id, now),
    prune,
    pack: events.pack,
    withdraw(run_id) {
      for (const event_id of events.removeOf(run_id, () => false)) deliveries.removeOf(event_id);
    },
    detach: (run_id) => void events.removeOf(run_id, () => true),
    removeOf: dispatch.removeOf,
    post({ run_id, changes, webhook_url }, now) {
      if (changes.length === 0) return [];
      prune(now);
      const receivers = endpoints.all();
      return changes.flatMap((change) => {
        const { is_new, ...event } = events.add(run_id, change, now);
        const pending = is_new
          ? targetsOf(receivers, webhook_url, event.kind).map(
              (to) => dispatch.open(event, run_id, to, now).id,
            )
          : deliveries.pendingOf(event.id);
        return pending.map((id) => dispatch.ship(id, now)).filter((request) => request !== null);
      });
    },
    note: dispatch.note,
    replay(delivery_id, now = Date.now()) {
      prune(now);
      return dispatch.replay(delivery_id, now);
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

interface DispatchParts {
  ids: CreateId;
  runs: EventRuns;
  endpoints: EndpointTable;
  secrets: SecretTable;
  events: EventTable;
  deliveries: DeliveryTable;
}

/** Opens the deliveries of a project's events, returns their requests and records their attempts. */
function createDispatch({ ids, runs, endpoints, secrets, events, deliveries }: DispatchParts) {
  function toRequest(
    { id, event_id, endpoint_id, url }: WebhookDelivery,
    body: string,
    now: number,
  ): DeliveryRequest {
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
      id: ids("delivery", now),
      object: "webhook_delivery",
      kind: event.kind,
      event_id: event.id,
      ...to,
      status: "pending",
      error: null,
      attempts: [],
      next_attempt_at: now,
      created_at: now,
      finished_at: null,
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

  function target({ endpoint_id, url }: WebhookDelivery): Target | string {
    if (endpoint_id === null) return { endpoint_id, url };
    const endpoint = endpoints.get(endpoint_id);
    if (!endpoint) return deliveryErrors.endpointDeleted();
    return endpoint.status === "active"
      ? { endpoint_id, url: endpoint.url }
      : deliveryErrors.endpointDisabled();
  }

  function ship(delivery_id: string, now: number): DeliveryRequest | null {
    const stored = deliveries.get(delivery_id);
    const event = stored && events.get(stored.delivery.event_id);
    if (!event || stored.delivery.status !== "pending") return null;
    const { run_id, delivery } = stored;
    const to = target(delivery);
    if (typeof to !== "string") return toRequest({ ...delivery, ...to }, event.body, now);
    close(run_id, delivery, to, now);
    return null;
  }

  return {
    open,
    ship,
    removeOf,
    note(delivery_id: string, { attempt, verdict, next_at }: AttemptResult): void {
      const stored = deliveries.get(delivery_id);
      if (stored?.delivery.status !== "pending") return;
      const { run_id, delivery } = stored;
      const over = next_at === null;
      const status = verdict === "delivered" ? "succeeded" : over ? "failed" : "pending";
      const attempts: DeliveryAttempt[] = [...delivery.attempts, attempt].slice(-MAX_ATTEMPTS);
      const end = attempt.at + attempt.duration;
      deliveries.put({
        run_id,
        delivery: {
          ...delivery,
          attempts,
          status,
          error: attempt.error,
          next_attempt_at: next_at,
          finished_at: over ? end : null,
        },
      });
      const { endpoint_id } = delivery;
      if (verdict === "gone" && endpoint_id !== null)
        endpoints.change(endpoint_id, { status: "disabled" }, end);
      if (over && runs.isGone(run_id)) removeOf(run_id);
    },
    replay(delivery_id: string, now: number): ReturnType<WebhookQueue["replay"]> {
      const stored = deliveries.get(delivery_id);
      if (!stored) return "delivery";
      const to = target(stored.delivery);
      if (typeof to === "string")
        return endpoints.get(stored.delivery.endpoint_id ?? "") ? "disabled" : "endpoint";
      const reset = { status: "pending", error: null, next_attempt_at: now, finished_at: null } as const;
      const delivery = { ...stored.delivery, ...to, ...reset };
      deliveries.put({ ...stored, delivery });
      return delivery;
    },
  };
}

type Target = Pick<WebhookDelivery, "endpoint_id" | "url">;

function targetsOf(
  endpoints: readonly WebhookEndpoint[],
  webhook_url: string | null,
  kind: EventKind,
): Target[] {
  const subscribers = endpoints.filter((endpoint) => subscribesTo(endpoint, kind));
  const targets: Target[] = subscribers.map(({ id, url }) => ({ endpoint_id: id, url }));
  const own = webhook_url === null ? [] : [{ endpoint_id: null, url: webhook_url }];
  return [...targets, ...own];
}

/** A stored event. */
export interface StoredEvent {
  id: string;
  kind: EventKind;
  /** The event as JSON. */
  body: string;
}

/** The events of one project, in the order of their creation. */
export interface EventTable {
  /** Creates the event of a run's change, or returns the existing one. */
  add(run_id: string, change: Change, now: number): StoredEvent & { is_new: boolean };
  get(id: string): StoredEvent | null;
  /** Packs the events of a finished run, which resemble its record. */
  pack(run_id: string): void;
  /** Removes the events of a run before its record and returns their ids; unpacks those that `needs` selects instead. */
  removeOf(run_id: string, needs: (event_id: string) => boolean): string[];
  /** Returns a page of events as JSON texts. */
  list(query: ListQuery): ListPage<string>;
  /** Returns when the oldest event was created; null when there is none. */
  oldest(): number | null;
  /** Removes the events created before `since`. */
  prune(since: number): void;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS event (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, run_id TEXT NOT NULL, version INTEGER NOT NULL,
    made_at INTEGER NOT NULL, body TEXT NOT NULL
  );
  CREATE UNIQUE INDEX IF NOT EXISTS event_change ON event (run_id, version);
  DROP INDEX IF EXISTS event_age;
`;

type Row = { id: string; kind: EventKind; run_id: string; version: number; made_at: number; body: Packed };

/** Stores the events of one project; `recordOf` returns the record of a run, with which its events are packed. */
function createEventTable(sql: Sql, ids: CreateId, recordOf: (run_id: string) => string | null): EventTable {
  sql.exec(SCHEMA);
  const rows = (text: string, ...values: (string | number)[]) => [...sql.exec<Row>(text, ...values)];
  const first = (text: string, ...values: (string | number)[]) => rows(text, ...values)[0];
  function toEvent({ id, kind, run_id, body }: Row): StoredEvent {
    if (typeof body === "string") return { id, kind, body };
    const record = recordOf(run_id) ?? "";
    return { id, kind, body: bodyOf(id, kind, body.byteLength === 0 ? record : unpack(body, () => record)) };
  }
  let last = first("SELECT id FROM event ORDER BY id DESC LIMIT 1")?.id ?? "";

  // Ids must increase even when the clock is set back: clients continue from the last event they have.
  function nextId(now: number): string {
    let id = ids("event", now);
    for (let at = now + 1; id <= last; at++) id = ids("event", at);
    last = id;
    return id;
  }

  return {
    add(run_id, { version, kind, at, record }, now) {
      const row = first("SELECT * FROM event WHERE run_id = ? AND version = ?", run_id, version);
      if (row) return { ...toEvent(row), is_new: false };
      const id = nextId(now);
      const body = bodyOf(id, kind, record, at);
      sql.exec("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", id, kind, run_id, version, now, body);
      return { id, kind, body, is_new: true };
    },
    get(id) {
      const row = first("SELECT * FROM event WHERE id = ?", id);
      return row ? toEvent(row) : null;
    },
    pack(run_id) {
      const record = recordOf(run_id);
      if (record === null) return;
      for (const row of rows("SELECT * FROM event WHERE run_id = ? ORDER BY version", run_id)) {
        const { id, kind, version, made_at, body } = row;
        if (typeof body !== "string") continue;
        const data = JSON.stringify(JSON.parse(body).data);
        if (bodyOf(id, kind, data) !== body) continue;
        const packed = data === record ? new Uint8Array() : pack(data, record);
        // REPLACE moves the row to the end of the table; packed in place, it would leave most of its page empty.
        const replace = "INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?, ?)";
        sql.exec(replace, id, kind, run_id, version, made_at, packed);
      }
    },
    removeOf(run_id, needs) {
      const removed: string[] = [];
      for (const row of rows("SELECT * FROM event WHERE run_id = ?", run_id)) {
        if (needs(row.id)) sql.exec("UPDATE event SET body = ? WHERE id = ?", toEvent(row).body, row.id);
        else removed.push(row.id);
      }
      for (const id of removed) sql.exec("DELETE FROM event WHERE id = ?", id);
      return removed;
    },
    list(query) {
      const { where, values, ascending, toPage } = whereOf(query);
      const order = ascending ? "ASC" : "DESC";
      const text = `SELECT * FROM event WHERE ${["1", ...where].join(" AND ")} ORDER BY id ${order} LIMIT ?`;
      return toPage(rows(text, ...values, query.limit + 1).map((row) => toEvent(row).body));
    },
    oldest: () => first("SELECT * FROM event ORDER BY id LIMIT 1")?.made_at ?? null,
    prune(since) {
      const first_valid = "SELECT id FROM event WHERE made_at >= ? ORDER BY id LIMIT 1";
      sql.exec(`DELETE FROM event WHERE id < COALESCE((${first_valid}), 'f')`, since);
    },
  };
}

function bodyOf(id: string, kind: EventKind, data: string, at = timeOf(data)): string {
  const head = JSON.stringify({ id, object: "event", kind });
  return `${head.slice(0, -1)},"data":${data},"created_at":${at}}`;
}

function timeOf(data: string): number {
  return (JSON.parse(data) as Task | Step).updated_at;
}

/** A stored delivery and the run whose object sends it. */
export interface StoredDelivery {
  run_id: string;
  delivery: WebhookDelivery;
}

/** The deliveries of one project. */
export interface DeliveryTable {
  /** Adds or replaces a delivery. */
  put(delivery: StoredDelivery): void;
  get(id: string): StoredDelivery | null;
  /** Returns the ids of an event's pending deliveries. */
  pendingOf(event_id: string): string[];
  list(query: ListQuery): ListPage<WebhookDelivery>;
  removeOf(event_id: string): void;
  /** Removes the deliveries created before `since`. */
  prune(since: number): void;
}

const DELIVERY_SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhook_delivery (
    id TEXT PRIMARY KEY, event_id TEXT NOT NULL, run_id TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
    made_at INTEGER NOT NULL, record TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS webhook_delivery_event ON webhook_delivery (event_id);
  CREATE INDEX IF NOT EXISTS webhook_delivery_status ON webhook_delivery (status, id);
  CREATE INDEX IF NOT EXISTS webhook_delivery_age ON webhook_delivery (made_at);
`;

type DeliveryRow = { id: string; event_id: string; run_id: string; kind: string; record: Packed };

// The dictionary that finished deliveries are packed with. Stored deliveries cannot be read without it, so it must never change.
const SAMPLE =
  '{"id":"dlv_01m86","object":"webhook_delivery","kind":"task.succeeded","event_id":"evt_01m86","endpoint_id":null,"endpoint_id":"we_01m86",' +
  '"url":"https://example.com/hooks","status":"failed","error":"It could not be reached.","status":"succeeded","error":null,' +
  '"attempts":[{"at":1795516414186,"duration":35,"response_status":200,"error":null}],"next_attempt_at":null,' +
  '"created_at":1795516414184,"finished_at":1795516414221}';

function createDeliveryTable(sql: Sql): DeliveryTable {
  sql.exec(DELIVERY_SCHEMA);
  const like = ({ id, event_id, kind }: Omit<DeliveryRow, "record" | "run_id">) =>
    SAMPLE + kind + event_id + id;
  const read = (text: string, ...values: (string | number)[]): StoredDelivery[] =>
    [...sql.exec<DeliveryRow>(text, ...values)].map((row) => ({
      run_id: row.run_id,
      delivery: JSON.parse(unpack(row.record, () => like(row))) as WebhookDelivery,
    }));
  return {
    put({ run_id, delivery }) {
      const { id, event_id, kind, status, created_at } = delivery;
      const whole = "INSERT OR REPLACE INTO webhook_delivery VALUES (?, ?, ?, ?, ?, ?, ?)";
      const json = JSON.stringify(delivery);
      const record = delivery.finished_at === null ? json : pack(json, like(delivery));
      sql.exec(whole, id, event_id, run_id, kind, status, created_at, record);
    },
    get: (id) => read("SELECT * FROM webhook_delivery WHERE id = ?", id)[0] ?? null,
    pendingOf(event_id) {
      const text = "SELECT * FROM webhook_delivery WHERE event_id = ? AND status = ?";
      return read(text, event_id, "pending" satisfies DeliveryStatus).map(({ delivery }) => delivery.id);
    },
    list(query) {
      const { where, values, ascending, toPage } = whereOf(query);
      const order = ascending ? "ASC" : "DESC";
      const text = `SELECT * FROM webhook_delivery WHERE ${["1", ...where].join(" AND ")} ORDER BY id ${order} LIMIT ?`;
      return toPage(read(text, ...values, query.limit + 1).map(({ delivery }) => delivery));
    },
    removeOf: (event_id) => void sql.exec("DELETE FROM webhook_delivery WHERE event_id = ?", event_id),
    prune: (since) => void sql.exec("DELETE FROM webhook_delivery WHERE made_at < ?", since),
  };
}
