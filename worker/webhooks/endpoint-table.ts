import type { ListPage, ListQuery } from "../../src/runs/lists.ts";
import {
  changeEndpoint,
  WEBHOOK_BOUNDS,
  type WebhookEndpoint,
  type WebhookEndpointChange,
} from "../../src/runs/webhook-events.ts";
import { type Sql, whereOf } from "../sql.ts";

/** The endpoints of one project. */
export interface EndpointTable {
  /** Adds one; null when the project has the maximum. */
  add(endpoint: WebhookEndpoint): WebhookEndpoint | null;
  get(id: string): WebhookEndpoint | null;
  all(): WebhookEndpoint[];
  list(query: ListQuery): ListPage<WebhookEndpoint>;
  /** Changes one; null when there is none. */
  change(id: string, change: WebhookEndpointChange, now?: number): WebhookEndpoint | null;
  remove(id: string): boolean;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS webhook_endpoint (
    id TEXT PRIMARY KEY, status TEXT NOT NULL, record TEXT NOT NULL
  ) WITHOUT ROWID;
`;

/** Creates the table of endpoints of one project. */
export function createEndpointTable(sql: Sql): EndpointTable {
  sql.exec(SCHEMA);
  const read = (text: string, ...values: (string | number)[]) =>
    [...sql.exec<{ record: string }>(text, ...values)].map(
      ({ record }) => JSON.parse(record) as WebhookEndpoint,
    );
  const all = () => read("SELECT record FROM webhook_endpoint ORDER BY id");
  const get = (id: string) => read("SELECT record FROM webhook_endpoint WHERE id = ?", id)[0] ?? null;

  function put(endpoint: WebhookEndpoint): WebhookEndpoint {
    const { id, status } = endpoint;
    sql.exec(
      "INSERT OR REPLACE INTO webhook_endpoint VALUES (?, ?, ?)",
      id,
      status,
      JSON.stringify(endpoint),
    );
    return endpoint;
  }

  return {
    add(endpoint) {
      const full = all().length >= WEBHOOK_BOUNDS.endpoints.max;
      return full && get(endpoint.id) === null ? null : put(endpoint);
    },
    all,
    get,
    list(query) {
      const { where, values, ascending, turn } = whereOf(query);
      const order = ascending ? "ASC" : "DESC";
      const text = `SELECT record FROM webhook_endpoint WHERE ${["1", ...where].join(" AND ")} ORDER BY id ${order} LIMIT ?`;
      return turn(read(text, ...values, query.limit + 1));
    },
    change(id, change, now = Date.now()) {
      const found = get(id);
      return found && put(changeEndpoint(found, change, now));
    },
    remove(id) {
      const found = get(id) !== null;
      sql.exec("DELETE FROM webhook_endpoint WHERE id = ?", id);
      return found;
    },
  };
}
