import type { CreateId } from "../../src/core/ids.ts";
import type { ListPage, ListQuery } from "../../src/core/lists.ts";
import type { EventKind } from "../../src/core/webhook.ts";
import { whereOf } from "../list-sql.ts";
import type { Sql } from "../sql.ts";
import type { Change } from "./shipment.ts";

/** An event as it is kept. */
export interface KeptEvent {
  id: string;
  kind: EventKind;
  /** The event as JSON. */
  body: string;
}

/** The events of one project, in the order in which they came. */
export interface EventTable {
  /** Creates the event for a run's change; returns the existing event for a change seen before. */
  add(run_id: string, change: Change, now: number): KeptEvent & { is_new: boolean };
  get(id: string): KeptEvent | null;
  /** Returns a page of events as JSON texts. */
  list(query: ListQuery): ListPage<string>;
  /** Returns when the oldest was created; null when there is none. */
  oldest(): number | null;
  /** Removes the events made before `since`. */
  prune(since: number): void;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS event (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, run_id TEXT NOT NULL, version INTEGER NOT NULL,
    made_at INTEGER NOT NULL, body TEXT NOT NULL
  );
  CREATE UNIQUE INDEX IF NOT EXISTS event_change ON event (run_id, version);
  CREATE INDEX IF NOT EXISTS event_age ON event (made_at);
`;

type Row = KeptEvent & { made_at: number } & Record<string, string | number>;

/** Keeps the events of one project. */
export function createEventTable(sql: Sql, ids: CreateId): EventTable {
  sql.exec(SCHEMA);
  const first = (text: string, ...values: (string | number)[]) => [...sql.exec<Row>(text, ...values)][0];
  let last = first("SELECT id FROM event ORDER BY id DESC LIMIT 1")?.id ?? "";

  // A client that continues from the last event must miss none, even when the clock was set back.
  function nextId(now: number): string {
    let id = ids("event", now);
    for (let at = now + 1; id <= last; at++) id = ids("event", at);
    last = id;
    return id;
  }

  return {
    add(run_id, { version, kind, at, record }, now) {
      const found = first("SELECT * FROM event WHERE run_id = ? AND version = ?", run_id, version);
      if (found) return { id: found.id, kind: found.kind, body: found.body, is_new: false };
      const id = nextId(now);
      const head = JSON.stringify({ id, object: "event", kind });
      const body = `${head.slice(0, -1)},"data":${record},"created_at":${at}}`;
      sql.exec("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", id, kind, run_id, version, now, body);
      return { id, kind, body, is_new: true };
    },
    get: (id) => first("SELECT * FROM event WHERE id = ?", id) ?? null,
    list(query) {
      const { where, values, ascending, turn } = whereOf(query);
      const order = ascending ? "ASC" : "DESC";
      const text = `SELECT body FROM event WHERE ${["1", ...where].join(" AND ")} ORDER BY id ${order} LIMIT ?`;
      const rows = sql.exec<{ body: string }>(text, ...values, query.limit + 1);
      return turn([...rows].map(({ body }) => body));
    },
    oldest: () => first("SELECT made_at FROM event ORDER BY made_at LIMIT 1")?.made_at ?? null,
    prune: (since) => void sql.exec("DELETE FROM event WHERE made_at < ?", since),
  };
}
