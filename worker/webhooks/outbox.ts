import type { Sql } from "../sql.ts";
import type { Change, DeliveryRequest } from "./delivery.ts";

/** A delivery that the object of a run has to send. */
export interface OutboxEntry {
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
export interface Outbox {
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
