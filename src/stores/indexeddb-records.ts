import type { ListPage, ListQuery } from "../core/lists.ts";
import type { Store } from "../core/ports.ts";
import type { Step } from "../core/step.ts";
import type { Task } from "../core/task.ts";
import type { Database, JobRecord } from "./indexeddb-schema.ts";

/** A store that can list its records. */
export interface ListedStore<T extends { id: string }> extends Store<T> {
  /** Returns a page of records in order of their ids, which is the order of creation. */
  list(query: ListQuery): Promise<ListPage<T>>;
  /** Returns all records, oldest first. */
  all(): Promise<T[]>;
}

/** Runs an operation on the database and converts its errors. */
export type Access = <T>(work: (db: Database) => Promise<T>) => Promise<T>;

interface Records {
  tasks: Task;
  steps: Step;
  jobs: JobRecord;
}

// Sorts after every string.
const END: IDBValidKey = [];

export function createRecords<K extends keyof Records>(access: Access, name: K): ListedStore<Records[K]> {
  type Row = Records[K];
  // Of the three, jobs have no status to be listed by.
  const store = name as "tasks";
  return {
    get: async (id) => ((await access((db) => db.get(store, id))) as unknown as Row | undefined) ?? null,
    put: async (record) => void (await access((db) => db.put(store, record as unknown as Task))),
    delete: (id) => access((db) => db.delete(store, id)),
    all: async () => (await access((db) => db.getAll(store))) as unknown as Row[],
    list: async (query) => (await access((db) => listRecords(db, store, query))) as unknown as ListPage<Row>,
  };
}

async function listRecords(db: Database, name: "tasks", query: ListQuery): Promise<ListPage<Task>> {
  const { limit, order, after, before, status, kind } = query;
  const [low, high] = order === "desc" ? [before, after] : [after, before];
  if (low !== undefined && high !== undefined && low >= high) return { records: [], more: false };
  // The page before a cursor must be adjacent to it, so it is read backwards and reversed.
  const backwards = before !== undefined && after === undefined;
  const direction = (order === "asc") === backwards ? "prev" : "next";
  const store = db.transaction(name).store;
  const open = () =>
    status === undefined
      ? store.openCursor(rangeOf(low ?? "", high ?? END), direction)
      : store.index("status").openCursor(rangeOf([status, low ?? ""], [status, high ?? END]), direction);
  const found: Task[] = [];
  for (let cursor = await open(); cursor && found.length <= limit; cursor = await cursor.continue()) {
    if (kind === undefined || cursor.value.kind === kind) found.push(cursor.value);
  }
  const records = found.slice(0, limit);
  return { records: backwards ? records.reverse() : records, more: found.length > limit };
}

// Both bounds are excluded.
function rangeOf(low: IDBValidKey, high: IDBValidKey): IDBKeyRange {
  return IDBKeyRange.bound(low, high, true, true);
}
