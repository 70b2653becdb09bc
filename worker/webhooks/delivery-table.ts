import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import type { DeliveryStatus, WebhookDelivery } from "../../src/runs/webhook-events.ts";
import { type Packed, pack, type Sql, unpack, whereOf } from "../sql.ts";

/** A delivery as it is kept, with the run whose object makes it. */
export interface KeptDelivery {
  run_id: string;
  delivery: WebhookDelivery;
}

/** The deliveries of one project. */
export interface DeliveryTable {
  /** Adds a delivery, or puts it in the place of what it was. */
  put(kept: KeptDelivery): void;
  get(id: string): KeptDelivery | null;
  /** Returns the ids of an event's pending deliveries. */
  pendingOf(event_id: string): string[];
  list(query: ListQuery): ListPage<WebhookDelivery>;
  removeOf(event_id: string): void;
  /** Removes those added before `since`. */
  prune(since: number): void;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhook_delivery (
    id TEXT PRIMARY KEY, event_id TEXT NOT NULL, run_id TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
    made_at INTEGER NOT NULL, record TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS webhook_delivery_event ON webhook_delivery (event_id);
  CREATE INDEX IF NOT EXISTS webhook_delivery_status ON webhook_delivery (status, id);
  CREATE INDEX IF NOT EXISTS webhook_delivery_age ON webhook_delivery (made_at);
`;

type Row = { id: string; event_id: string; run_id: string; kind: string; record: Packed };

// What the JSON of finished deliveries has in common. What was packed with it can only be read with it, so it never changes.
const SAMPLE =
  '{"id":"dlv_01m86","object":"webhook_delivery","kind":"task.succeeded","event_id":"evt_01m86","endpoint_id":null,"endpoint_id":"we_01m86",' +
  '"url":"https://example.com/hooks","status":"failed","error":"It could not be reached.","status":"succeeded","error":null,' +
  '"attempts":[{"at":1795516414186,"duration":35,"response_status":200,"error":null}],"next_attempt_at":null,' +
  '"created_at":1795516414184,"finished_at":1795516414221}';

/** Keeps the deliveries of one project. */
export function createDeliveryTable(sql: Sql): DeliveryTable {
  sql.exec(SCHEMA);
  const like = ({ id, event_id, kind }: Omit<Row, "record" | "run_id">) => SAMPLE + kind + event_id + id;
  const read = (text: string, ...values: (string | number)[]): KeptDelivery[] =>
    [...sql.exec<Row>(text, ...values)].map((row) => ({
      ...{ run_id: row.run_id, delivery: JSON.parse(unpack(row.record, () => like(row))) as WebhookDelivery },
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
      const { where, values, ascending, turn } = whereOf(query);
      const order = ascending ? "ASC" : "DESC";
      const text = `SELECT * FROM webhook_delivery WHERE ${["1", ...where].join(" AND ")} ORDER BY id ${order} LIMIT ?`;
      return turn(read(text, ...values, query.limit + 1).map(({ delivery }) => delivery));
    },
    removeOf: (event_id) => void sql.exec("DELETE FROM webhook_delivery WHERE event_id = ?", event_id),
    prune: (since) => void sql.exec("DELETE FROM webhook_delivery WHERE made_at < ?", since),
  };
}
