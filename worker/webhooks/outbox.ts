import type { Sql } from "../sql.ts";
import type { Change, Shipment } from "./delivery.ts";

/** A delivery that the object of a run is to make. */
export interface Due {
  /** Id of the delivery. */
  id: string;
  project: string;
  /** When to try next. */
  due_at: number;
  /** Tries so far, and since when they are counted. */
  attempts: number;
  since: number;
}

/** What the object of one run keeps of its webhooks: changes that its project does not know yet, and deliveries to make. */
export interface Outbox {
  /** Keeps the URL that was given with the run. */
  setUrl(url: string): void;
  url(): string | null;
  /** Keeps a change, together with the state that it led to. */
  add(change: Change): void;
  /** Returns the changes not yet handed over, oldest first. */
  changes(): Change[];
  /** Records that changes up to a version were handed over, and which deliveries follow from them. */
  handedOver(version: number, project: string, shipments: readonly Shipment[], now: number): void;
  /** Removes what was handed over. */
  forget(): void;
  /** Adds a delivery, due now, with its attempts counted from zero. */
  again(id: string, project: string, now: number): void;
  deliveries(): Due[];
  postpone(id: string, due_at: number, attempts: number): void;
  drop(id: string): void;
  /** Removes everything but the URL. */
  discard(): void;
  /** Takes note that the object's storage was cleared. */
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

/** Keeps the outbox in the database of a run's object. */
export function createOutbox(sql: Sql): Outbox {
  // An object that was never given anything must leave nothing behind.
  let ready = [...sql.exec("SELECT name FROM sqlite_master WHERE name = 'outbox'")].length > 0;
  // Deleting their rows right away would add a write before the caller gets its response.
  let handed = 0;
  const write = (text: string, ...values: (string | number)[]) => {
    if (!ready) sql.exec(SCHEMA);
    ready = true;
    sql.exec(text, ...values);
  };
  const keep = (verb: "IGNORE" | "REPLACE", id: string, project: string, now: number) =>
    write(`INSERT OR ${verb} INTO delivery VALUES (?, ?, ?, 0, ?)`, id, project, now, now);
  const forget = () => void (ready && handed > 0 && write("DELETE FROM outbox WHERE version <= ?", handed));
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
      return [...sql.exec<Change & Record<string, string | number>>(text, handed)];
    },
    handedOver(version, project, shipments, now) {
      handed = Math.max(handed, version);
      if (shipments.length === 0) return;
      forget();
      for (const { id } of shipments) keep("IGNORE", id, project, now);
    },
    forget,
    again: (id, project, now) => void keep("REPLACE", id, project, now),
    deliveries() {
      if (!ready) return [];
      return [...sql.exec<Due & Record<string, string | number>>("SELECT * FROM delivery ORDER BY due_at")];
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
