import type { Page } from "../../client/client.ts";
import { MediaError } from "../../core/errors.ts";
import type { ListQuery } from "../../core/lists.ts";
import { isFinished } from "../../core/transitions.ts";
import type { InputStore, PieceStore } from "../../stores/indexeddb.ts";
import type { Run, Sort } from "../media-api.ts";

/** The stores of the host. */
export interface RunStores {
  get(sort: Sort, id: string): Promise<Run | null>;
  put(record: Run): Promise<void>;
  delete(record: Run): Promise<void>;
  list(sort: Sort, query: ListQuery): Promise<Page<Run>>;
  /** Every record. */
  all(): Promise<Run[]>;
  /** The visitors' files, by the ids of their runs. */
  inputs: InputStore;
  /** The results of finished pieces of work. */
  pieces: PieceStore;
  /** Approximate size of records and pieces in bytes. */
  recordBytes(): Promise<number>;
}

/**
 * Wraps stores so that the end of a run is never lost to a full disk and `wait()` always settles: it is held in memory until there is
 * room. If the page is closed first, the run continues from its stored state.
 */
export function holdEnds(stores: RunStores): RunStores {
  const held = new Map<string, Run>();

  async function put(record: Run): Promise<void> {
    try {
      await stores.put(record);
      held.delete(record.id);
    } catch (thrown) {
      if (!isFull(thrown) || !isFinished(record)) throw thrown;
      held.set(record.id, record);
    }
  }

  // One at a time, while there is room.
  async function store(): Promise<void> {
    for (const record of held.values()) {
      await put(record);
      if (held.has(record.id)) return;
    }
  }

  const current = <T extends Run>(record: T): T => (held.get(record.id) as T | undefined) ?? record;

  return {
    ...stores,
    put,
    async get(sort, id) {
      await store();
      return held.get(id) ?? stores.get(sort, id);
    },
    async delete(record) {
      held.delete(record.id);
      await stores.delete(record);
    },
    async list(sort, query) {
      await store();
      const page = await stores.list(sort, query);
      const records = page.records.map(current);
      const { status } = query;
      return { ...page, records: records.filter((each) => status === undefined || each.status === status) };
    },
    all: async () => (await stores.all()).map(current),
  };
}

function isFull(thrown: unknown): boolean {
  return thrown instanceof MediaError && thrown.kind === "storage_full";
}
