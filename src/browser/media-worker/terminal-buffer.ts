import type { Page } from "../../client/client.ts";
import { MediaError } from "../../core/errors.ts";
import type { ListQuery } from "../../core/lists.ts";
import { isFinished } from "../../core/transitions.ts";
import type { InputStore, JobStore, PieceStore } from "../../stores/indexeddb.ts";
import type { RecordType, Run } from "../media-api.ts";

export interface RunStores {
  get(type: RecordType, id: string): Promise<Run | null>;
  put(record: Run): Promise<void>;
  delete(record: Run): Promise<void>;
  list(type: RecordType, query: ListQuery): Promise<Page<Run>>;
  all(): Promise<Run[]>;
  jobs: JobStore;
  /** The visitors' files, by the ids of their runs or jobs. */
  inputs: InputStore;
  pieces: PieceStore;
  /** Approximate size of records, jobs and pieces in bytes. */
  recordBytes(): Promise<number>;
}

/**
 * Wraps stores so that a full disk never loses the end of a run and `wait()` always settles: terminal records are held in
 * memory until there is room. If the page closes first, the run resumes from its stored state.
 */
export function bufferTerminal(stores: RunStores): RunStores {
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

  // One at a time, as long as there is room.
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
    async get(type, id) {
      await store();
      return held.get(id) ?? stores.get(type, id);
    },
    async delete(record) {
      held.delete(record.id);
      await stores.delete(record);
    },
    async list(type, query) {
      await store();
      const page = await stores.list(type, query);
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
