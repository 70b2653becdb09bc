import { logFault } from "../log.ts";
import type { Sql } from "../sql.ts";
import {
  type AttemptResult,
  type Change,
  type DeliveryRequest,
  nextAttempt,
  type PostResult,
} from "./delivery.ts";

/** A delivery that the object of a run has to send. */
interface OutboxEntry {
  /** Id of the delivery. */
  id: string;
  project: string;
  /** Time of the next attempt, in milliseconds since the epoch. */
  due_at: number;
  /** Attempts since `since`, in milliseconds since the epoch. */
  attempts: number;
  since: number;
}

/** The outbox of one run: changes to hand over to its project, and deliveries to send. */
interface Outbox {
  /** Stores the run's own webhook URL. */
  setUrl(url: string): void;
  url(): string | null;
  /** Adds a change with the resulting record. */
  add(change: Change): void;
  /** Returns the changes not yet handed over, oldest first. */
  changes(): Change[];
  /** Marks the changes up to a version as handed over, and adds the deliveries that result. */
  handedOver(version: number, project: string, requests: readonly DeliveryRequest[], now: number): void;
  /** Removes the changes that were handed over. */
  forget(): void;
  /** Adds or restarts a delivery, due now, with no attempts. */
  restart(id: string, project: string, now: number): void;
  deliveries(): OutboxEntry[];
  postpone(id: string, due_at: number, attempts: number): void;
  drop(id: string): void;
  /** Removes everything but the URL. */
  discard(): void;
  /** Records that the object's storage was deleted. */
  cleared(): void;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhook_url (one INTEGER PRIMARY KEY CHECK (one = 1), url TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS outbox (
    version INTEGER PRIMARY KEY, kind TEXT NOT NULL, at INTEGER NOT NULL, record TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS delivery (
    id TEXT PRIMARY KEY, project TEXT NOT NULL, due_at INTEGER NOT NULL, attempts INTEGER NOT NULL, since INTEGER NOT NULL
  );
`;

/** Creates the outbox in the database of a run's object. */
export function createOutbox(sql: Sql): Outbox {
  // The first write creates the tables: an unused object must leave nothing behind.
  let ready = [...sql.exec("SELECT name FROM sqlite_master WHERE name = 'outbox'")].length > 0;
  let last_version = 0;
  const write = (text: string, ...values: (string | number)[]) => {
    if (!ready) sql.exec(SCHEMA);
    ready = true;
    sql.exec(text, ...values);
  };
  const insert = (verb: "IGNORE" | "REPLACE", id: string, project: string, now: number) =>
    write(`INSERT OR ${verb} INTO delivery VALUES (?, ?, ?, 0, ?)`, id, project, now, now);
  const forget = () =>
    void (ready && last_version > 0 && write("DELETE FROM outbox WHERE version <= ?", last_version));
  return {
    setUrl: (url) => write("INSERT OR REPLACE INTO webhook_url VALUES (1, ?)", url),
    url() {
      if (!ready) return null;
      return [...sql.exec<{ url: string }>("SELECT url FROM webhook_url")][0]?.url ?? null;
    },
    add({ version, kind, at, record }) {
      forget();
      write("INSERT OR REPLACE INTO outbox VALUES (?, ?, ?, ?)", version, kind, at, record);
    },
    changes() {
      if (!ready) return [];
      const text = "SELECT * FROM outbox WHERE version > ? ORDER BY version";
      return [...sql.exec<Change & Record<string, string | number>>(text, last_version)];
    },
    handedOver(version, project, requests, now) {
      last_version = Math.max(last_version, version);
      if (requests.length === 0) return;
      forget();
      for (const { id } of requests) insert("IGNORE", id, project, now);
    },
    forget,
    restart: (id, project, now) => void insert("REPLACE", id, project, now),
    deliveries() {
      if (!ready) return [];
      return [
        ...sql.exec<OutboxEntry & Record<string, string | number>>("SELECT * FROM delivery ORDER BY due_at"),
      ];
    },
    postpone(id, due_at, attempts) {
      if (ready) write("UPDATE delivery SET due_at = ?, attempts = ? WHERE id = ?", due_at, attempts, id);
    },
    drop: (id) => void (ready && write("DELETE FROM delivery WHERE id = ?", id)),
    discard() {
      for (const table of ready ? ["outbox", "delivery"] : []) sql.exec(`DELETE FROM ${table}`);
    },
    cleared() {
      ready = false;
    },
  };
}

/** Dependencies of {@link createWebhookSender}. */
export interface SenderTools {
  outbox: Outbox;
  /** Returns the request of a delivery; null when it is no longer due. */
  requestOf(entry: OutboxEntry): Promise<DeliveryRequest | null>;
  /** Posts it once; rejects only for internal faults. */
  post(entry: OutboxEntry, request: DeliveryRequest): Promise<PostResult>;
  /** Reports the result of an attempt to the project. */
  note(entry: OutboxEntry, result: AttemptResult): Promise<void>;
  /** Called when {@link WebhookSender.dueAt} may have changed. */
  rearm(): Promise<void>;
  now(): number;
  random(): number;
  /** Milliseconds before the second attempt of a delivery. */
  firstMs(): number;
  /** Milliseconds after which a silent attempt counts as lost: longer than a post may take. */
  leaseMs(): number;
}

/** Sends the deliveries of one run and retries them. */
export interface WebhookSender {
  /** Starts all due deliveries that are not in flight, without waiting; `fresh` are requests that are already loaded. */
  start(fresh?: readonly DeliveryRequest[]): void;
  /** Restarts a delivery with the next {@link WebhookSender.start}, whatever its result so far. */
  restart(id: string, project: string): void;
  /** Returns when the next delivery is due, in milliseconds since the epoch; null when none is. */
  dueAt(): number | null;
}

// An object may have six open connections; one stays free: https://developers.cloudflare.com/workers/platform/limits/#simultaneous-open-connections
const MAX_IN_FLIGHT = 5;
const FAULT_MS = 2000;

/** Creates the sender of an outbox. It delivers at least once: a delivery in flight during a crash is sent again. */
export function createWebhookSender(tools: SenderTools): WebhookSender {
  const { outbox, requestOf, post, note, rearm, now } = tools;
  const inFlight = new Set<string>();
  const ready = new Map<string, DeliveryRequest>();
  const finished = new Set<string>();

  async function deliver(entry: OutboxEntry): Promise<void> {
    const { id, since } = entry;
    const request = ready.get(id) ?? (await requestOf(entry));
    ready.delete(id);
    if (!request) return outbox.drop(id);
    const { attempt, verdict } = await post(entry, request);
    const attempts = entry.attempts + 1;
    const end = attempt.at + attempt.duration;
    const next_at =
      verdict === "again" ? nextAttempt({ attempts, since }, end, tools.firstMs(), tools.random()) : null;
    if (next_at !== null) outbox.postpone(id, next_at, attempts);
    await note(entry, { attempt, verdict, next_at });
    if (next_at !== null) return;
    finished.add(id);
    outbox.drop(id);
  }

  async function run(entry: OutboxEntry): Promise<void> {
    try {
      await deliver(entry);
    } catch (thrown) {
      logFault("delivery failed", thrown, { delivery_id: entry.id });
      const current = outbox.deliveries().find(({ id }) => id === entry.id);
      if (current && current.due_at <= now()) outbox.postpone(entry.id, now() + FAULT_MS, current.attempts);
    } finally {
      inFlight.delete(entry.id);
      start();
      await rearm();
    }
  }

  function start(fresh: readonly DeliveryRequest[] = []): void {
    for (const request of fresh) if (!inFlight.has(request.id)) ready.set(request.id, request);
    for (const entry of outbox.deliveries()) {
      if (inFlight.size >= MAX_IN_FLIGHT || entry.due_at > now()) break;
      if (inFlight.has(entry.id)) continue;
      if (finished.has(entry.id)) {
        outbox.drop(entry.id);
        continue;
      }
      inFlight.add(entry.id);
      void run(entry);
    }
  }

  return {
    start,
    restart(id, project) {
      finished.delete(id);
      outbox.restart(id, project, now());
    },
    dueAt() {
      const full = inFlight.size >= MAX_IN_FLIGHT;
      const times = outbox
        .deliveries()
        .filter(({ id }) => !full || inFlight.has(id))
        .map(({ id, due_at }) => (inFlight.has(id) ? now() + tools.leaseMs() : due_at));
      return times.length > 0 ? Math.min(...times) : null;
    },
  };
}
