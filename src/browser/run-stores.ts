import type { Page } from "../client/client.ts";
import type { ListQuery } from "../core/lists.ts";
import {
  type IndexedDbStores,
  type InputStore,
  openIndexedDb,
  type PieceStore,
} from "../stores/indexeddb.ts";
import { holdEnds } from "./held-ends.ts";
import type { Run, Sort } from "./media-api.ts";

/** All that the host remembers. */
export interface RunStores {
  get(sort: Sort, id: string): Promise<Run | null>;
  put(record: Run): Promise<void>;
  delete(record: Run): Promise<void>;
  list(sort: Sort, query: ListQuery): Promise<Page<Run>>;
  /** Every record. */
  all(): Promise<Run[]>;
  /** The visitors' files, by the ids of their runs. */
  inputs: InputStore;
  /** What the finished pieces of runs gave. */
  pieces: PieceStore;
}

/** Opens what the host remembers; rejects with `service_unavailable` where the browser gives no database, or another tab blocks it. */
export async function openRunStores(name: string): Promise<RunStores> {
  const { tasks, steps, inputs, pieces }: IndexedDbStores = await openIndexedDb({ name });
  return holdEnds({
    get: (sort, id) => (sort === "task" ? tasks.get(id) : steps.get(id)),
    put: (record) => (record.object === "task" ? tasks.put(record) : steps.put(record)),
    delete: ({ object, id }) => (object === "task" ? tasks.delete(id) : steps.delete(id)),
    list: (sort, query) => (sort === "task" ? tasks.list(query) : steps.list(query)),
    all: async () => [...(await tasks.all()), ...(await steps.all())],
    inputs,
    pieces,
  });
}
