import type { CreateId } from "../../src/runs/ids.ts";
import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import type { EventKind } from "../../src/runs/webhook-events.ts";
import { type Packed, pack, type Sql, unpack, whereOf } from "../sql.ts";
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
  /** Packs the events of a finished run, which resemble its record. */
  pack(run_id: string): void;
  /** Removes the events of a run before its record, but for those that `needs` still names, which no longer depend on it. */
  removeOf(run_id: string, needs: (event_id: string) => boolean): string[];
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
  DROP INDEX IF EXISTS event_age;
`;

type Row = { id: string; kind: EventKind; run_id: string; version: number; made_at: number; body: Packed };

/** Keeps the events of one project; `recordOf` returns the record of a run, which its packed events are read with. */
export function createEventTable(
  sql: Sql,
  ids: CreateId,
  recordOf: (run_id: string) => string | null,
): EventTable {
  sql.exec(SCHEMA);
  const rows = (text: string, ...values: (string | number)[]) => [...sql.exec<Row>(text, ...values)];
  const first = (text: string, ...values: (string | number)[]) => rows(text, ...values)[0];
  // Of a packed event the data alone is stored, and nothing of one whose data is the record itself.
  function keep({ id, kind, run_id, body }: Row): KeptEvent {
    if (typeof body === "string") return { id, kind, body };
    const record = recordOf(run_id) ?? "";
    return { id, kind, body: bodyOf(id, kind, body.byteLength === 0 ? record : unpack(body, () => record)) };
  }
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
      if (found) return { ...keep(found), is_new: false };
      const id = nextId(now);
      const body = bodyOf(id, kind, record, at);
      sql.exec("INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", id, kind, run_id, version, now, body);
      return { id, kind, body, is_new: true };
    },
    get(id) {
      const found = first("SELECT * FROM event WHERE id = ?", id);
      return found ? keep(found) : null;
    },
    pack(run_id) {
      const record = recordOf(run_id);
      if (record === null) return;
      for (const row of rows("SELECT * FROM event WHERE run_id = ? ORDER BY version", run_id)) {
        const { id, kind, version, made_at, body } = row;
        if (typeof body !== "string") continue;
        // At the end of the table: shrunk in its place, it would leave the rest of its page empty.
        const data = JSON.stringify(JSON.parse(body).data);
        if (bodyOf(id, kind, data) !== body) continue;
        const packed = data === record ? new Uint8Array() : pack(data, record);
        const whole = "INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?, ?)";
        sql.exec(whole, id, kind, run_id, version, made_at, packed);
      }
    },
    removeOf(run_id, needs) {
      const removed: string[] = [];
      for (const row of rows("SELECT * FROM event WHERE run_id = ?", run_id)) {
        if (needs(row.id)) sql.exec("UPDATE event SET body = ? WHERE id = ?", keep(row).body, row.id);
        else removed.push(row.id);
      }
      for (const id of removed) sql.exec("DELETE FROM event WHERE id = ?", id);
      return removed;
    },
    list(query) {
      const { where, values, ascending, turn } = whereOf(query);
      const order = ascending ? "ASC" : "DESC";
      const text = `SELECT * FROM event WHERE ${["1", ...where].join(" AND ")} ORDER BY id ${order} LIMIT ?`;
      return turn(rows(text, ...values, query.limit + 1).map((row) => keep(row).body));
    },
    oldest: () => first("SELECT * FROM event ORDER BY id LIMIT 1")?.made_at ?? null,
    prune(since) {
      // In the order of their ids, which is that of their making.
      const kept = "SELECT id FROM event WHERE made_at >= ? ORDER BY id LIMIT 1";
      sql.exec(`DELETE FROM event WHERE id < COALESCE((${kept}), 'f')`, since);
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
